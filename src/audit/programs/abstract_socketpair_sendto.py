# Half of a datagram pair, aimed at an abstract name.
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.connect(b"\0" + abstract_datagram_name.encode())
a.send(b"hello")
