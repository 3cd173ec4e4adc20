# Owner, which Landlock does not cover.
os.chown(canary_path, 12345, 12345)
