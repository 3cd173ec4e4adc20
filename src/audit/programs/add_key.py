# A key of our own in kernel memory.
reached(call("add_key", b"user", tag.encode(), b"x", 1, -2))
