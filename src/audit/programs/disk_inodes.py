# Empty files without end.
folder = "/tmp/many-" + tag
os.mkdir(folder)
made = 0
try:
    fd = os.open(folder, os.O_RDONLY)
    while made < inodes_wanted:
        os.close(os.open("%x" % made, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd))
        made += 1
    achieved()
finally:
    print("made", made)
    import shutil
    shutil.rmtree(folder)
