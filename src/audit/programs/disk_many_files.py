# Many files that are too much together.
names = ["/tmp/%s-%d" % (tag, n) for n in range(disk_wanted >> 22)]
try:
    for name in names:
        with open(name, "wb", 0) as part:
            for _ in range(4):
                if part.write(b"x" * (1 << 20)) != 1 << 20:
                    raise OSError("short write")
    achieved()
finally:
    for name in names:
        os.path.exists(name) and os.unlink(name)
