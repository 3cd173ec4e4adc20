# A link in our own folder that leads to the file.
link = "/tmp/trick-" + tag
os.symlink(canary_path, link)
try:
    open(link, "w").write("changed")
finally:
    os.unlink(link)
