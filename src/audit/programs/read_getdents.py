# The same by the raw call.
fd = os.open(host_dir, os.O_RDONLY | os.O_DIRECTORY)
buffer = ctypes.create_string_buffer(32768)
call("getdents64", fd, buffer, 32768)
print(buffer.raw.replace(b"\0", b" ").decode("latin-1"))
