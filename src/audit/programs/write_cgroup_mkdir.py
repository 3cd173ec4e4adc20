# A group of our own beside the limits.
os.mkdir(os.path.dirname(cgroup_file) + "/escape-" + tag)
achieved()
os.rmdir(os.path.dirname(cgroup_file) + "/escape-" + tag)
