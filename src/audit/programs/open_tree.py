# A detached copy of a mount.
reached(call("open_tree", -100, b"/", 1))
