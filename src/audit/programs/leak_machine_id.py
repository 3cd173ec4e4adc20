# The number that identifies this installation.
with open("/etc/machine-id") as file:
    print("fact[%s]" % file.readline().rstrip("\n"))
