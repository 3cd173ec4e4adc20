# Two names change places.
print(_libc.renameat2(-100, (host_dir + "/sized").encode(), -100, canary_path.encode(), 2),
      ctypes.get_errno())
