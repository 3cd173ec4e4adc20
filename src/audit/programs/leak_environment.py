# The environment that this process began with, as the kernel has it.
with open("/proc/self/environ") as file:
    print(file.read())
