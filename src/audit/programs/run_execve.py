# The plain way.
os.execv(printf[0], printf)
