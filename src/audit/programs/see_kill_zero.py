# Whether a process number is in use on the host, by the null signal.
value = _libc.kill(victim_pid, 0)
if value == 0:
    achieved()
