# The same with threads.
import threading
mark()
gate = threading.Event()
threading.stack_size(65536)
started = 0
try:
    while started < processes_wanted:
        threading.Thread(target=gate.wait, daemon=True).start()
        started += 1
except (RuntimeError, MemoryError) as error:
    print("stopped at", started, error)
time.sleep(0.3)
