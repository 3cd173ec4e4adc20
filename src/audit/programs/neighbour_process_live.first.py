# Its other half: the name of a running execution's process.
import time
with open("/proc/self/comm", "w") as file:
    file.write(secret[:15])
time.sleep(0.9)
