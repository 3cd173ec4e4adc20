# A new file.
os.close(os.open(host_dir + "/created", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
