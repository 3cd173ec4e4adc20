# The kernel's log. Opened, not written.
os.close(os.open("/dev/kmsg", os.O_WRONLY))
achieved()
