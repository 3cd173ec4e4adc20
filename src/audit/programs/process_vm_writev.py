# Changes a host process's memory.
buffer = ctypes.create_string_buffer(b"overwritten")
ours = struct.pack("<QQ", ctypes.addressof(buffer), 11)
theirs = struct.pack("<QQ", victim_scribble, 11)
print(call("process_vm_writev", victim_pid, ours, 1, theirs, 1, 0))
