# What a file's metadata tells: its size is a number only the host knows.
print("size", os.stat(host_dir + "/sized").st_size)
if os.stat(host_dir + "/sized").st_size == expected_size:
    achieved()
