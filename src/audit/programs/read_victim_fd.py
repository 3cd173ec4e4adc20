# A descriptor of a host process.
print(open("/proc/%d/fd/%d" % (victim_pid, victim_fd), "rb").read().decode())
