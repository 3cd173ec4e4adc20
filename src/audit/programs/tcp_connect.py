# To a listener of the host on loopback.
import socket
s = socket.socket()
s.settimeout(1)
s.connect(("127.0.0.1", tcp_port))
s.sendall(b"hello")
