# The program ps, and with it every process of the host.
import subprocess
output = subprocess.check_output(["ps", "aux"], text=True)
answer("ran ps")
print(output)
