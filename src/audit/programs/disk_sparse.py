# A file that claims a tebibyte.
path = "/tmp/sparse-" + tag
fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
try:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.ftruncate(fd, 1 << 40)
    achieved()
finally:
    os.unlink(path)
