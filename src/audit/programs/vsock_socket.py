# The way to the hypervisor, which no network namespace hides.
fd = _libc.socket(40, 1, 0)
reached(fd if fd >= 0 else -ctypes.get_errno())
