# Mode bits, which Landlock does not cover.
os.chmod(canary_path, 0o777)
