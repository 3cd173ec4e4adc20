# The kernel runs what stands there as root. Opened, not written.
os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
achieved()
