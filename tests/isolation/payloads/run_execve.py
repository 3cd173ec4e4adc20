# The plain way.
os.execv("/bin/echo", ["echo", nonce])
