# One datagram to the mapped address by the other family.
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b"hello", ("::ffff:127.0.0.1", udp_port))
