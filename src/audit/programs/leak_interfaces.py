# The network interfaces of the host.
import os
for name in os.listdir("/sys/class/net"):
    print("fact[%s]" % name)
