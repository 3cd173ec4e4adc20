# Takes a descriptor out of a host process.
pidfd = call("pidfd_open", victim_pid, 0)
fd = call("pidfd_getfd", pidfd, victim_fd, 0) if pidfd >= 0 else pidfd
print(os.pread(fd, 64, 0) if fd >= 0 else errno.errorcode[-fd])
