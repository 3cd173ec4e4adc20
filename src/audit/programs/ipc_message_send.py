# A System V queue of the host.
queue = _libc.msgget(ipc_key, 0)
print(queue, _libc.msgsnd(queue, struct.pack("<q", 1) + b"hello", ctypes.c_size_t(5), 0o4000))
