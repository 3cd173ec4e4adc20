# libc's spawn.
child = os.posix_spawn("/bin/echo", ["echo", nonce], {})
os.waitpid(child, 0)
