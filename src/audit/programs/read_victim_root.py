# The root folder of a host process.
print(open("/proc/%d/root%s" % (victim_pid, secret_path)).read())
