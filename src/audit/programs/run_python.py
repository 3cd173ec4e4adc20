# Another interpreter.
os.execv("/usr/bin/python3", ["python3", "-c", "print('%s' + '%s')" % (nonce[:9], nonce[9:])])
