# A family nobody thinks of.
fd = _libc.socket(31, 3, 1)
reached(fd if fd >= 0 else -ctypes.get_errno())
