# The names in /home.
import os
answer(sorted(os.listdir("/home"))[:5])
