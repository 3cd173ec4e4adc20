# A file that the launcher had open.
import os
print(os.pread(leaked_file, 64, 0).decode())
