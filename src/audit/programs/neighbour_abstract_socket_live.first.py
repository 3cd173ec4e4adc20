# Its other half: an abstract Unix socket of a running execution.
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("\0" + tag)
s.listen()
s.settimeout(0.9)
s.accept()[0].sendall(secret.encode())
