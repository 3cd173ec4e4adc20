# The name of a running execution's process.
import os, time
end = time.time() + 0.6
while time.time() < end:
    names = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/comm" % entry) as file:
                    names.append(file.read())
            except OSError:
                pass
    time.sleep(0.1)
    print(names)
