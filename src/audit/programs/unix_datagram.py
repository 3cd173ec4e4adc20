# A host service by its path, without a connection.
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"hello", unix_datagram_path)
