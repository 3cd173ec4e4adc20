# With a value attached.
information = ctypes.create_string_buffer(struct.pack("<iii", 28, 0, -1), 128)
print(call("rt_sigqueueinfo", victim_pid, 28, information))
