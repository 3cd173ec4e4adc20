# Watches whole file systems.
reached(call("fanotify_init", 4, 0))
