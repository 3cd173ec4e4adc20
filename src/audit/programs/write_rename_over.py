# Another name takes the file's place.
os.rename(host_dir + "/sized", canary_path)
