# Swap on a file that does not exist.
reached(call("swapon", b"/no-such-file", 0))
