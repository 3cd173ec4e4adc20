# A frame built by hand on the loopback device.
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
data = b"hello"
udp = struct.pack(">HHHH", 40000, udp_port, 8 + len(data), 0) + data
target = bytes(int(part) for part in secret_address.split("."))
ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, b"\x0a\0\0\x09", target)
total = sum(struct.unpack(">10H", ip))
total = (total & 0xffff) + (total >> 16)
ip = ip[:10] + struct.pack(">H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + ip[12:]
s.bind(("lo", 0x0800))
s.send(bytes(12) + b"\x08\0" + ip + udp)
