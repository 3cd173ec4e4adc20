# A link in our own folder that leads out.
link = "/tmp/link-" + tag
os.symlink(secret_path, link)
try:
    print(open(link).read())
finally:
    os.unlink(link)
