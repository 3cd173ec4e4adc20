# The root folder of process 1.
print(open("/proc/1/root" + secret_path).read())
