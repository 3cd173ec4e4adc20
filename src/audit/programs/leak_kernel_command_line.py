# What the kernel was started with.
with open("/proc/cmdline") as file:
    print("fact[%s]" % file.readline().rstrip("\n"))
