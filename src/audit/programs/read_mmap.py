# Through a mapping.
import mmap
fd = os.open(secret_path, os.O_RDONLY)
print(mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ)[:].decode())
