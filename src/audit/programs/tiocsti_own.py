# Types into a terminal of our own making, plainly.
import fcntl
master, slave = os.openpty()
os.setsid() if os.getpid() != os.getsid(0) else None
fcntl.ioctl(slave, 0x540e, 0)
reached(call("ioctl", slave, 0x5412, ctypes.create_string_buffer(b"Z", 1)))
