# Files where shared memory lives.
names = ["/dev/shm/%s-%d" % (tag, n) for n in range(6)]
try:
    for name in names:
        with open(name, "wb", 0) as part:
            for _ in range((memory_wanted // 6) >> 20):
                part.write(b"x" * (1 << 20))
    achieved()
finally:
    time.sleep(0.05)
    for name in names:
        os.path.exists(name) and os.unlink(name)
