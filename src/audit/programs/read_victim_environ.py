# The environment of a host process.
print(open("/proc/%d/environ" % victim_pid, "rb").read().decode())
