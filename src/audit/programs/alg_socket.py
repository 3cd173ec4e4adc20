# The kernel's cryptography.
fd = _libc.socket(38, 5, 0)
reached(fd if fd >= 0 else -ctypes.get_errno())
