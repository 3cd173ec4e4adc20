# With a magic number that the kernel does not know.
reached(call("reboot", 1, 2, 3, 0))
