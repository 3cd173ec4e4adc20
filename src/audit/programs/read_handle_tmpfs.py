# A file handle instead of a path; the descriptor names the file system.
mount = os.open(os.path.dirname(host_dir), os.O_RDONLY)
fd = call("open_by_handle_at", mount, ctypes.create_string_buffer(bytes.fromhex(handle)),
          os.O_RDONLY)
print(os.read(fd, 4096).decode() if fd >= 0 else errno.errorcode[-fd])
