# The host's root folder inside a folder of ours.
where = "/tmp/bind-" + tag
os.mkdir(where)
try:
    if call("mount", b"/", where.encode(), None, 4096, None) == 0:
        achieved()
        call("umount2", where.encode(), 2)
finally:
    os.rmdir(where)
