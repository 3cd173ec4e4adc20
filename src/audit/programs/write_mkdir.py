# A new folder.
os.mkdir(host_dir + "/made")
