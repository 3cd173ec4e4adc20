# A host process is tied to one processor.
os.sched_setaffinity(victim_pid, {0})
