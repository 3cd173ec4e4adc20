# libc's own file functions, which no Python hook sees.
_libc.fopen.restype = ctypes.c_void_p
stream = _libc.fopen(secret_path.encode(), b"r")
buffer = ctypes.create_string_buffer(4096)
if stream:
    _libc.fread(buffer, 1, 4095, ctypes.c_void_p(stream))
    print(buffer.value.decode())
