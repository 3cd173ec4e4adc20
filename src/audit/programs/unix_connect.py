# A host service by its path.
import socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(1)
s.connect(unix_path)
s.sendall(b"hello")
