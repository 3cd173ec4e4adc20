# What lies beneath multiprocessing's spawn and its helpers.
import multiprocessing.util
child = multiprocessing.util.spawnv_passfds(b"/bin/echo", [b"echo", nonce.encode()], [1])
os.waitpid(child, 0)
