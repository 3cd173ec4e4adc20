# A switch of the whole kernel. Opened, not written.
os.close(os.open("/proc/sys/vm/overcommit_memory", os.O_WRONLY))
achieved()
