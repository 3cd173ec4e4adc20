# By thread.
print(call("tgkill", victim_pid, victim_pid, 28))
