# By a pipe inside the kernel.
fd = os.open(secret_path, os.O_RDONLY)
out, into = os.pipe()
os.splice(fd, into, 4096)
print(os.read(out, 4096).decode())
