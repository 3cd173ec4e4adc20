# Our own root folder, then upwards.
open("/proc/self/root/../.." + canary_path, "w").write("changed")
