# Whether a process number is in use on the host.
fd = call("pidfd_open", victim_pid, 0)
if fd >= 0:
    achieved()
