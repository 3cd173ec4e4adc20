# Compares kernel objects, which tells where they lie.
reached(call("kcmp", os.getpid(), os.getpid(), 0, 1, 1))
