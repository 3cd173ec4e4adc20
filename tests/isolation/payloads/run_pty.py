# On a terminal of its own.
import pty
pty.spawn(["/bin/echo", nonce])
