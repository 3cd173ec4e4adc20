# The module signal.
import signal
answer("imported signal")
