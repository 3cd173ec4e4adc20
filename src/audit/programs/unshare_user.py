# A user namespace gives every capability inside.
reached(call("unshare", 0x10000000))
