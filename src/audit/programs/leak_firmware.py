# The name of the machine, from its firmware.
with open("/sys/class/dmi/id/product_name") as file:
    print("fact[%s]" % file.readline().rstrip("\n"))
