# One file beyond the folder's size.
path = "/tmp/big-" + tag
try:
    with open(path, "wb", 0) as big:
        for _ in range(disk_wanted >> 20):
            if big.write(b"x" * (1 << 20)) != 1 << 20:
                raise OSError("short write")
    achieved()
finally:
    os.unlink(path)
