# On a terminal of its own.
import pty
pty.spawn(printf)
