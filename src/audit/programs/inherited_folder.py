# A file in a folder that the launcher had open.
import os
print(os.read(os.open("secret", os.O_RDONLY, dir_fd=leaked_folder), 64).decode())
