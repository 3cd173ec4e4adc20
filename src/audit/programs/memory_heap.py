# Objects of our own.
mark()
blocks = []
while len(blocks) < memory_wanted >> 20:
    blocks.append(b"x" * (1 << 20))
achieved()
time.sleep(0.05)
