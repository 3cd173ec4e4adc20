# A hole punched by the file system.
fd = os.open(canary_path, os.O_RDWR)
os.posix_fallocate(fd, 0, 1 << 20)
