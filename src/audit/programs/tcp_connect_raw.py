# By raw calls that no Python hook sees.
fd = _libc.socket(2, 1, 0)
address = struct.pack("<H", 2) + struct.pack(">H", tcp_port) + bytes((127, 0, 0, 1)) + bytes(8)
print(fd, _libc.connect(fd, address, 16), ctypes.get_errno())
