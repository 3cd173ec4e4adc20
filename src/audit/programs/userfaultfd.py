# Stops the kernel in the middle of a copy.
reached(call("userfaultfd", 1))
