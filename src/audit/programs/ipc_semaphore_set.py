# A System V semaphore of the host.
semaphore = _libc.semget(ipc_key, 0, 0)
print(semaphore, _libc.semctl(semaphore, 0, 16, 42))
