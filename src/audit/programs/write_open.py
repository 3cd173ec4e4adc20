# The plain way.
open(canary_path, "w").write("changed")
