# A file of a running execution in /dev/shm.
import time
end = time.time() + 0.6
while True:
    try:
        with open("/dev/shm/neighbour-" + tag) as file:
            print(file.read())
        break
    except OSError:
        if time.time() > end:
            raise
        time.sleep(0.02)
