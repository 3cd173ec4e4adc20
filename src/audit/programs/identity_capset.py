# Takes the capability to administer the system.
header = struct.pack("<Ii", 0x20080522, 0)
one = struct.pack("<6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
if call("capset", header, one) == 0:
    achieved()
