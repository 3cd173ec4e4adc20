# A mount namespace of our own.
reached(call("unshare", 0x00020000))
