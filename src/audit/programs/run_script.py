# A script of our own.
path = "/tmp/script-" + tag
open(path, "w").write("#!/bin/sh\necho " + nonce + "\n")
os.chmod(path, 0o755)
try:
    child = os.fork()
    if child == 0:
        try:
            os.execv(path, [path])
        finally:
            os._exit(1)
    os.waitpid(child, 0)
finally:
    os.unlink(path)
