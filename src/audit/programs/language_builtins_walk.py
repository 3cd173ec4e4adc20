# From a builtin function to the module it is bound to.
print(print.__self__.open(secret_path).read())
