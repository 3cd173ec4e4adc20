# A service that the host's other programs could find.
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", listen_port))
s.listen()
s.settimeout(1)
s.accept()
