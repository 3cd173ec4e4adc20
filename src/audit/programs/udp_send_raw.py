# A datagram built by hand on a raw socket.
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
data = b"hello"
udp = struct.pack(">HHHH", 40000, udp_port, 8 + len(data), 0) + data
ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, b"\x7f\0\0\1",
                 b"\x7f\0\0\1")
s.sendto(ip + udp, ("127.0.0.1", 0))
