# The disks of the host.
with open("/proc/partitions") as file:
    for line in file:
        print("fact[%s]" % (line.split() or [""])[-1])
