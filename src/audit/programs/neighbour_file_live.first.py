# Its other half: a file of a running execution in /tmp.
import time
with open("/tmp/neighbour-" + tag, "w") as file:
    file.write(secret)
time.sleep(0.9)
