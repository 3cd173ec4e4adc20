# What people use.
import subprocess
print(subprocess.run(["/bin/echo", nonce], capture_output=True, text=True).stdout)
