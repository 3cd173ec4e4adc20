# A listener on a local port that the host can reach.
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", listen_port))
s.listen(1)
answer("listening")
s.settimeout(1)
s.accept()
