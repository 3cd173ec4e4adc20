# From a function to the builtins of its module.
def function():
    pass


names = function.__globals__["__builtins__"]
names = names if isinstance(names, dict) else names.__dict__
print(names["open"](secret_path).read())
