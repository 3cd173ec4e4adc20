# Stands in front of programs that use nothing but plain Python.
def answer(value):
    """The operation worked; in letters that survive every way a result may be quoted."""
    print("answer-" + repr(value).encode().hex() + "-answer")
