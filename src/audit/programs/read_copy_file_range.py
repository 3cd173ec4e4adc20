# A copy of the file made by the kernel in a folder of ours.
fd = os.open(secret_path, os.O_RDONLY)
copy = os.open(scratch_same_fs + "/copy-" + tag, os.O_RDWR | os.O_CREAT, 0o600)
os.copy_file_range(fd, copy, 4096)
print(os.pread(copy, 4096, 0).decode())
