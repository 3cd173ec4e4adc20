# A kernel switch. Opened, not written.
os.close(os.open(sysfs_file, os.O_WRONLY))
achieved()
