# The names of all processes; one of them is the secret.
for entry in os.listdir("/proc"):
    if entry.isdigit():
        try:
            print(entry, open("/proc/%s/comm" % entry).read().strip())
        except OSError as error:
            print(entry, error)
