# The number that identifies this boot.
with open("/proc/sys/kernel/random/boot_id") as file:
    print("fact[%s]" % file.readline().rstrip("\n"))
