# An O_PATH descriptor passes no read check; reopening it through /proc should.
fd = os.open(secret_path, os.O_PATH)
print(open("/proc/self/fd/%d" % fd).read())
