# Into a namespace by descriptor; here our own.
fd = os.open("/proc/self/ns/uts", os.O_RDONLY)
reached(call("setns", fd, 0))
