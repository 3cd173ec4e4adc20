# A file without a name, then a name for it.
fd = os.open(host_dir, os.O_TMPFILE | os.O_WRONLY, 0o600)
os.write(fd, b"new")
_libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, (host_dir + "/tmpfile").encode(), 0x400)
