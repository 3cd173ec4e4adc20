# A folder goes away.
os.rmdir(host_dir + "/folder")
