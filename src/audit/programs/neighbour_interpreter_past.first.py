# Its other half: a variable that an execution before this one left in the interpreter.
kept_by_neighbour = secret
try:
    import sys
    sys.kept_by_neighbour = secret
except Exception as error:
    print(error)
