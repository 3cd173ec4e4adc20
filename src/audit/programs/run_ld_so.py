# The dynamic loader is a program that runs programs.
import glob
loader = sorted(glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*")
                + glob.glob("/usr/lib/*/ld-linux-*"))[0]
os.execv(loader, [loader] + printf)
