# Another interpreter.
os.execv("/usr/bin/python3", ["python3", "-c", "print(%r)" % nonce])
