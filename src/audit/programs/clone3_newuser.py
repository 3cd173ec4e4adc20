# The newer call, whose flags no filter can see.
child = call("clone3", ctypes.create_string_buffer(struct.pack("<8Q", 0x10000000, 0, 0, 0, 17, 0, 0,
                                                               0), 64), 64)
if child == 0:
    os._exit(0)
reached(child)
