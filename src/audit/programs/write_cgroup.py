# The limits of the group that we live in. Opened, not written.
os.close(os.open(cgroup_file, os.O_WRONLY))
achieved()
