# A file in the home folder that is still there afterwards.
import os
with open(os.path.expanduser("~") + "/left-" + tag, "w") as file:
    file.write("left behind")
