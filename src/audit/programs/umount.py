# Away with a host mount.
print(call("umount2", (host_dir + "/mounted").encode(), 2))
