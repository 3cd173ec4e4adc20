# The root folder of our parent, which may still be the host's.
open("/proc/%d/root%s" % (os.getppid(), canary_path), "w").write("changed")
