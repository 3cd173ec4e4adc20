# A file of a running execution in /tmp.
import time
end = time.time() + 0.6
while True:
    try:
        with open("/tmp/neighbour-" + tag) as file:
            print(file.read())
        break
    except OSError:
        if time.time() > end:
            raise
        time.sleep(0.02)
