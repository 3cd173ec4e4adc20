# A device of the host. Opened for reading only.
os.close(os.open(device_path, os.O_RDONLY | os.O_NONBLOCK))
achieved()
