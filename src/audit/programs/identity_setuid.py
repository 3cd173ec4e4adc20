# Becomes root.
print(_libc.setresuid(0, 0, 0))
if os.getresuid() == (0, 0, 0):
    achieved()
