# What people use.
import subprocess
print(subprocess.run(printf, capture_output=True, text=True).stdout)
