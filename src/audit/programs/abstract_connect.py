# A host service by its abstract name.
import socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(1)
s.connect(b"\0" + abstract_name.encode())
s.sendall(b"hello")
