# The plain way.
print(open(secret_path).read())
