# Reads the machinery's memory in one call.
with open("/proc/self/maps") as maps:
    start = int(maps.readline().split("-")[0], 16)
buffer = ctypes.create_string_buffer(64)
ours = struct.pack("<QQ", ctypes.addressof(buffer), 64)
theirs = struct.pack("<QQ", start, 64)
reached(call("process_vm_readv", os.getppid(), ours, 1, theirs, 1, 0))
