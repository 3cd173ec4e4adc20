# Are we root on the host, whatever we are called here?
inside, outside, count = open("/proc/self/uid_map").read().split()[:3]
if int(outside) <= 0 < int(outside) + int(count) and os.getuid() - int(inside) + int(outside) == 0:
    achieved()
