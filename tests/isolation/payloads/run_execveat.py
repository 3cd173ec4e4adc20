# By a descriptor.
fd = os.open("/bin/echo", os.O_PATH)
argv = (ctypes.c_char_p * 3)(b"echo", nonce.encode(), None)
print(errno.errorcode[-call("execveat", fd, b"", argv, None, 0x1000)])
