# A host service by its abstract name, without a connection.
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b"hello", b"\0" + abstract_datagram_name.encode())
