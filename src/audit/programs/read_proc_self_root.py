# Our own root folder, then upwards.
print(open("/proc/self/root/../../.." + secret_path).read())
