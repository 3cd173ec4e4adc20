# Half of a datagram pair is a socket like any other.
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.connect(unix_datagram_path)
a.send(b"hello")
