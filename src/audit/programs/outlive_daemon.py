# Two forks and a session of its own.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        mark()
        for fd in range(64):
            try:
                os.close(fd)
            except OSError:
                pass
        time.sleep(20)
    os._exit(0)
time.sleep(0.1)
