# A signal to a host process.
import signal
os.kill(victim_pid, signal.SIGWINCH)
