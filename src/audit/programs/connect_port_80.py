# A connection to a web server: here a listener of the host on loopback, at a port of its own.
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
s.settimeout(1)
s.connect(("127.0.0.1", tcp_port))
s.sendall(b"GET / HTTP/1.0\r\n\r\n")
answer("connected")
s.close()
