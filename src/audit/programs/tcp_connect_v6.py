# The same by the other family.
import socket
s = socket.socket(socket.AF_INET6)
s.settimeout(1)
s.connect(("::1", tcp6_port))
s.sendall(b"hello")
