# A ring executes calls that the filter never sees.
parameters = ctypes.create_string_buffer(120)
reached(call("io_uring_setup", 2, parameters))
