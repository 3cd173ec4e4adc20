# The same against the disk that the read-only runtime lies on.
mount = os.open(os.path.dirname(ctypes.__file__), os.O_RDONLY)
fd = call("open_by_handle_at", mount, ctypes.create_string_buffer(bytes.fromhex(disk_handle)),
          os.O_RDONLY)
print(os.read(fd, 4096).decode() if fd >= 0 else errno.errorcode[-fd])
