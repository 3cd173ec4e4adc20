# A runner that changes its number faster than a list can be read.
if os.fork() == 0:
    os.setsid()
    mark()
    end = time.time() + 2
    while time.time() < end:
        if os.fork() != 0:
            os._exit(0)
        time.sleep(0.002)
    os._exit(0)
time.sleep(0.1)
