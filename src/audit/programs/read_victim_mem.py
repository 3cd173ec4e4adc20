# The memory of a host process.
with open("/proc/%d/mem" % victim_pid, "rb", 0) as memory:
    memory.seek(victim_address)
    print(memory.read(64))
