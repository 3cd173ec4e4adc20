# The arguments of a host process.
print(open("/proc/%d/cmdline" % victim_pid, "rb").read().decode())
