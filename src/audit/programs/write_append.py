# Append, without truncation.
fd = os.open(canary_path, os.O_WRONLY | os.O_APPEND)
os.write(fd, b"more")
