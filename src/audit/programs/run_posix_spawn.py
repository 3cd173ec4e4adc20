# libc's spawn.
child = os.posix_spawn(printf[0], printf, {})
os.waitpid(child, 0)
