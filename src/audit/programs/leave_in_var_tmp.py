# A file in /var/tmp that is still there afterwards.
import os
with open("/var/tmp" + "/left-" + tag, "w") as file:
    file.write("left behind")
