# An abstract Unix socket of a running execution.
import socket, time
end = time.time() + 0.6
while True:
    try:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(0.3)
        s.connect("\0" + tag)
        print(s.recv(64).decode())
        break
    except OSError:
        if time.time() > end:
            raise
        time.sleep(0.02)
