# Reads a host process's memory as its debugger.
if call("ptrace", 0x4206, victim_pid, 0, 0) == 0:
    call("ptrace", 0x4207, victim_pid, 0, 0)
    os.waitpid(victim_pid, 0x40000000)
    words = b""
    for offset in range(0, 64, 8):
        word = ctypes.create_string_buffer(8)
        call("ptrace", 2, victim_pid, victim_address + offset, word)
        words += word.raw
    call("ptrace", 17, victim_pid, 0, 0)
    print(words)
