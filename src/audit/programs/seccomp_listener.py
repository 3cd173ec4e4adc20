# A filter with a listener could answer for the supervisor.
program = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7fff0000), 8)
header = struct.pack("<HxxxxxxQ", 1, ctypes.addressof(program))
call("prctl", 38, 1, 0, 0, 0)
reached(call("seccomp", 1, 8, header))
