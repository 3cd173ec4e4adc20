# Through a shell.
os.system("echo " + nonce)
