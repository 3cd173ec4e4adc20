# The name goes away.
os.unlink(canary_path)
