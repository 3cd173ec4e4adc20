# A file in /dev/shm that is still there afterwards.
import os
with open("/dev/shm" + "/left-" + tag, "w") as file:
    file.write("left behind")
