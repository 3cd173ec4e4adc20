# A private mapping far beyond any limit, every page touched.
mark()
import mmap
area = mmap.mmap(-1, far_wanted, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for offset in range(0, far_wanted, 4096):
    area[offset] = 1
achieved()
