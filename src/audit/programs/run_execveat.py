# By a descriptor.
fd = os.open(printf[0], os.O_PATH)
argv = (ctypes.c_char_p * 5)(*(word.encode() for word in printf), None)
print(errno.errorcode[-call("execveat", fd, b"", argv, None, 0x1000)])
