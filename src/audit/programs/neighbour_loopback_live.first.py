# Its other half: a port of a running execution on loopback.
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", listen_port))
s.listen()
s.settimeout(0.9)
s.accept()[0].sendall(secret.encode())
