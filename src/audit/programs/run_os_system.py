# Through a shell.
os.system(" ".join(printf))
