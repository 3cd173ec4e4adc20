# A host process gets less of the processor.
os.setpriority(os.PRIO_PROCESS, victim_pid, 7)
