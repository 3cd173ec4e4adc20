# The host's name.
import os
print("fact[%s]" % os.uname().nodename)
