# Over a host folder.
print(call("mount", b"none", (host_dir + "/folder").encode(), b"tmpfs", 0, None))
