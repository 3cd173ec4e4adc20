# The kernel's log.
reached(call("syslog", 3, ctypes.create_string_buffer(4096), 4096))
