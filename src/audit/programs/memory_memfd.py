# Files that have no name at all.
held = []
for n in range(6):
    fd = call("memfd_create", b"m", 0)
    if fd < 0:
        raise OSError(-fd, "memfd_create")
    held.append(fd)
    for _ in range((memory_wanted // 6) >> 20):
        os.write(fd, b"x" * (1 << 20))
achieved()
time.sleep(0.05)
