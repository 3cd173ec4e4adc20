# Writable memory becomes executable.
_libc.mmap.restype = ctypes.c_void_p
address = _libc.mmap(None, 4096, 3, 0x22, -1, 0)
if _libc.mprotect(ctypes.c_void_p(address), 4096, 5) == 0:
    achieved()
