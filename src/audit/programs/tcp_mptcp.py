# Multipath TCP, which Landlock does not cover.
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.settimeout(1)
s.connect(("127.0.0.1", tcp_port))
s.sendall(b"hello")
