# A file in /tmp that is still there afterwards.
import os
with open("/tmp" + "/left-" + tag, "w") as file:
    file.write("left behind")
