# A variable that an execution before this one left in the interpreter.
try:
    print(kept_by_neighbour)
except NameError:
    import sys
    print(sys.kept_by_neighbour)
