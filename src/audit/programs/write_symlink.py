# A new symbolic link.
os.symlink("/", host_dir + "/made-link")
