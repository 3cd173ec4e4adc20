# Asks to be debugged: even that is refused.
child = os.fork()
if child == 0:
    value = call("ptrace", 0, 0, 0, 0)
    os._exit(77 if value == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77:
    achieved()
