# A file that an execution before this one left in /dev/shm.
with open("/dev/shm/neighbour-" + tag) as file:
    print(file.read())
