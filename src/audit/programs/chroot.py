# The oldest way to another root folder.
reached(call("chroot", b"/"))
