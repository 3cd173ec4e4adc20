# The newer call, whose arguments no filter can see.
how = struct.pack("<QQQ", os.O_RDONLY, 0, 0)
fd = call("openat2", -100, secret_path.encode(), ctypes.create_string_buffer(how, 24), 24)
print(os.read(fd, 4096).decode() if fd >= 0 else errno.errorcode[-fd])
