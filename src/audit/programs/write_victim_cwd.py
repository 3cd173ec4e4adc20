# The working folder of a host process.
open("/proc/%d/cwd/%s" % (victim_pid, os.path.basename(canary_path)), "w").write("changed")
