# Deaf to every signal, and holding the outputs open.
import signal
if os.fork() == 0:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    mark()
    if os.fork() == 0:
        time.sleep(20)
    time.sleep(20)
    os._exit(0)
time.sleep(0.1)
