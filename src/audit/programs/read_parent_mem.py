# The memory of our own parent, which is the machinery of the box.
with open("/proc/%d/maps" % os.getppid()) as maps:
    start = int(maps.readline().split("-")[0], 16)
with open("/proc/%d/mem" % os.getppid(), "rb", 0) as memory:
    memory.seek(start)
    if len(memory.read(64)) == 64:
        achieved()
