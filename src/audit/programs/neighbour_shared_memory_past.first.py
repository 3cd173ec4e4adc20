# Its other half: a file that an execution before this one left in /dev/shm.
with open("/dev/shm/neighbour-" + tag, "w") as file:
    file.write(secret)
