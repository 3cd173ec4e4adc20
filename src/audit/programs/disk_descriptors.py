# Descriptors without end.
held = []
try:
    while len(held) < descriptors_wanted:
        held.append(os.dup(0))
    achieved()
except OSError as error:
    print("stopped at", len(held), error)
