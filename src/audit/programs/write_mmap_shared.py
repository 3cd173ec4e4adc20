# A writable shared mapping.
import mmap
fd = os.open(canary_path, os.O_RDWR)
mmap.mmap(fd, 0)[0:4] = b"edit"
