# Process accounting into a file that does not exist.
reached(call("acct", b"/no-such-folder/file"))
