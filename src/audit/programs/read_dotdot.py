# Upwards from the working folder, further than there are folders.
os.chdir("/")
print(open("../../../../../../.." + secret_path).read())
