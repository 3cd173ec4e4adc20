# A network namespace of our own.
reached(call("unshare", 0x40000000))
