# A map, the first step of most attacks through bpf.
attributes = ctypes.create_string_buffer(struct.pack("<IIIII", 2, 4, 4, 1, 0), 120)
reached(call("bpf", 0, attributes, 120))
