# The module pty.
import pty
answer("imported pty")
