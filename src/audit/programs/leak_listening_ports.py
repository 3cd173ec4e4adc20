# On which ports the host listens.
with open("/proc/net/tcp") as file:
    for line in file:
        print("fact[%s]" % line.split()[1][-4:])
