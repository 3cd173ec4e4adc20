# Without the io module.
fd = os.open(secret_path, os.O_RDONLY | os.O_NOFOLLOW)
print(os.read(fd, 4096).decode())
