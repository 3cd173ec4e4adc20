# A program that lies in memory only.
fd = call("memfd_create", b"program", 0)
if fd < 0:
    raise OSError(-fd, "memfd_create")
os.write(fd, tiny_elf(nonce))
argv = (ctypes.c_char_p * 2)(b"program", None)
print(errno.errorcode[-call("execveat", fd, b"", argv, None, 0x1000)])
