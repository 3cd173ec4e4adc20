# By a descriptor's owner: the kernel sends it when the pipe is written.
import fcntl
out, into = os.pipe()
fcntl.fcntl(out, fcntl.F_SETOWN, victim_pid)
fcntl.fcntl(out, 10, 28)
fcntl.fcntl(out, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(into, b"x")
time.sleep(0.05)
