# Memory that is writable and executable at once.
_libc.mmap.restype = ctypes.c_void_p
address = _libc.mmap(None, 4096, 7, 0x22, -1, 0)
if address != ctypes.c_void_p(-1).value:
    achieved()
