# Each process is modest; together they are not.
mark()
for _ in range(6):
    if os.fork() == 0:
        block = b"x" * (memory_wanted // 6)
        time.sleep(20)
        os._exit(0)
time.sleep(0.6)
