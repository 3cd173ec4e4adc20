# Through a shell, from C, its output read back.
_libc.popen.restype = ctypes.c_void_p
stream = _libc.popen(" ".join(printf).encode(), b"r")
if stream:
    buffer = ctypes.create_string_buffer(256)
    _libc.fgets(buffer, 256, ctypes.c_void_p(stream))
    print(buffer.value.decode())
