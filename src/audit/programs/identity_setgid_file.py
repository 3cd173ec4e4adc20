# A file that gives its group away, in a folder of ours.
path = "/tmp/setuid-" + tag
os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700))
try:
    os.chown(path, 0, 0)
    os.chmod(path, 0o6755)
    if os.stat(path).st_mode & 0o6000 == 0o6000 and not os.statvfs("/tmp").f_flag & os.ST_NOSUID:
        achieved()
finally:
    os.unlink(path)
