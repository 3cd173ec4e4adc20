# The names in a host folder; one of them is the secret.
print(os.listdir(host_dir))
