# A file that an execution before this one left in /tmp.
with open("/tmp/neighbour-" + tag) as file:
    print(file.read())
