# Its other half: a file that an execution before this one left in /tmp.
with open("/tmp/neighbour-" + tag, "w") as file:
    file.write(secret)
