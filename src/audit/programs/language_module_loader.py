# The loader of this module loads others.
posix = __loader__.load_module("posix")
print(posix.read(posix.open(secret_path, 0), 64))
