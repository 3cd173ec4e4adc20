# A shared mapping, every page touched.
mark()
import mmap
area = mmap.mmap(-1, memory_wanted, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for offset in range(0, memory_wanted, 4096):
    area[offset] = 1
achieved()
time.sleep(0.05)
