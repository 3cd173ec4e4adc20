# Its other half: a file of a running execution in /dev/shm.
import time
with open("/dev/shm/neighbour-" + tag, "w") as file:
    file.write(secret)
time.sleep(0.9)
