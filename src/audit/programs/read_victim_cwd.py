# The working folder of a host process.
print(open("/proc/%d/cwd/%s" % (victim_pid, os.path.basename(secret_path))).read())
