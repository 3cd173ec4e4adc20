# A second name for a host file.
os.link(secret_path, host_dir + "/hard")
