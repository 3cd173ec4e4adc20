# Are we root on the host, whatever we are called here?
inside, outside, count = open("/proc/self/uid_map").read().split()[:3]
outer_uid = os.getuid() - int(inside) + int(outside)
# In a namespace of a normal user, 0 outside is that user.
if launcher_uid == 0 and int(outside) <= outer_uid < int(outside) + int(count) and outer_uid == 0:
    achieved()
