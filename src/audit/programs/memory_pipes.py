# Kernel buffers that belong to nobody's heap.
import fcntl
held = []
total = 0
for n in range(memory_wanted >> 20):
    out, into = os.pipe()
    fcntl.fcntl(into, 1031, 1 << 20)
    fcntl.fcntl(into, fcntl.F_SETFL, os.O_NONBLOCK)
    held.append((out, into))
    try:
        while True:
            total += os.write(into, b"x" * 65536)
    except BlockingIOError:
        pass
if total >= memory_wanted // 2:
    achieved()
time.sleep(0.05)
