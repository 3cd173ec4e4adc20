# A name, asked of a resolver of the host on loopback.
import socket, struct
query = struct.pack(">6H", 4711, 256, 1, 0, 0, 0)
for label in ("www", "example", "test"):
    query += bytes([len(label)]) + label.encode()
query += struct.pack(">BHH", 0, 1, 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
s.sendto(query, ("127.0.0.1", dns_port))
answer(".".join(str(part) for part in s.recv(512)[-4:]))
