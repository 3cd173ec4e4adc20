# To everybody at once; a signal that is ignored unless one listens.
import signal
os.kill(-1, signal.SIGWINCH)
