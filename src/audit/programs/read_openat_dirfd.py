# Relative to a descriptor of the root folder.
root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
fd = os.open(secret_path.lstrip("/"), os.O_RDONLY, dir_fd=root)
print(os.read(fd, 4096).decode())
