# The host's name.
name = ("box-" + tag[-8:]).encode()
print(call("sethostname", name, len(name)))
