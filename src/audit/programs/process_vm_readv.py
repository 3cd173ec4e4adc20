# Reads a host process's memory in one call.
buffer = ctypes.create_string_buffer(64)
ours = struct.pack("<QQ", ctypes.addressof(buffer), 64)
theirs = struct.pack("<QQ", victim_address, 64)
print(call("process_vm_readv", victim_pid, ours, 1, theirs, 1, 0), buffer.raw)
