# The processes of the host, by psutil or by /proc.
import os
try:
    import psutil
    names = [process.name() for process in psutil.process_iter()]
except ImportError:
    names = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with open("/proc/%s/comm" % entry) as file:
                names.append(file.read().strip())
answer("listed processes")
print(names)
