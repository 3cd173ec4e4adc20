# A System V segment of the host, open to all; its content is the secret.
_libc.shmat.restype = ctypes.c_void_p
segment = _libc.shmget(ipc_key, ctypes.c_size_t(0), 0)
if segment >= 0:
    print(ctypes.string_at(_libc.shmat(segment, None, 0o10000), 64))
