# The text of a symbolic link, which is the secret.
print(os.readlink(host_dir + "/link"))
