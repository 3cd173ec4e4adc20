# Segments of System V shared memory.
_libc.shmat.restype = ctypes.c_void_p
segments = []
size = sysv_size
try:
    for n in range(6):
        segment = _libc.shmget(0, ctypes.c_size_t(size), 0o600)
        if segment < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        segments.append(segment)
        address = _libc.shmat(segment, None, 0)
        ctypes.memset(address, 1, size)
    achieved()
    time.sleep(0.05)
finally:
    for segment in segments:
        _libc.shmctl(segment, 0, None)
