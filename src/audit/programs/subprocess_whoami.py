# The program whoami.
import subprocess
answer(subprocess.check_output(["whoami"], text=True).strip())
