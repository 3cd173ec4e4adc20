# By descriptor.
fd = call("pidfd_open", victim_pid, 0)
print(call("pidfd_send_signal", fd, 28, None, 0) if fd >= 0 else errno.errorcode[-fd])
