# Times, which Landlock does not cover.
os.utime(canary_path, (1, 1))
