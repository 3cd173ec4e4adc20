# A node of a host device beside the host's files. Opened for reading only.
node = host_dir + "/device-" + tag
os.mknod(node, device_mode | 0o600, os.makedev(device_major, device_minor))
try:
    os.close(os.open(node, os.O_RDONLY | os.O_NONBLOCK))
    achieved()
finally:
    os.unlink(node)
