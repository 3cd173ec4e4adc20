# Data with the first packet, without connect().
import socket
s = socket.socket()
s.settimeout(1)
s.sendto(b"hello", 0x20000000, ("127.0.0.1", tcp_port))
