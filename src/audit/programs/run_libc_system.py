# Through a shell, from C.
_libc.system(" ".join(printf).encode())
