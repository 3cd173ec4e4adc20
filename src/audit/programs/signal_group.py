# To the host process's group.
import signal
os.killpg(victim_pid, signal.SIGWINCH)
