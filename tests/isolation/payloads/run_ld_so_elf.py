# The dynamic loader on a program of our own.
import glob, shutil
loader = sorted(glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*")
                + glob.glob("/usr/lib/*/ld-linux-*"))[0]
source = next((p for p in ("/bin/echo", "/usr/bin/echo") if os.path.exists(p)), None)
path = "/tmp/elf-" + tag
if source is None:
    raise FileNotFoundError("no program to copy")
shutil.copyfile(source, path)
try:
    child = os.fork()
    if child == 0:
        try:
            os.execv(loader, [loader, path, nonce])
        finally:
            os._exit(1)
    os.waitpid(child, 0)
finally:
    os.unlink(path)
