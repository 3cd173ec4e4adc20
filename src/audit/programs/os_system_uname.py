# The program uname, through a shell.
import os
path = "/tmp/uname_output-" + tag + ".txt"
status = os.system("uname -a > " + path)
if status != 0:
    raise OSError("the command failed with status %d" % status)
with open(path) as file:
    answer(file.read().strip())
os.remove(path)
