# Another root folder. The paths do not exist.
reached(call("pivot_root", b"/no-such-folder", b"/no-such-folder"))
