# By path, without opening.
os.truncate(canary_path, 0)
