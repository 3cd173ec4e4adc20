# The import machinery as the reader.
import runpy
print(runpy.run_path(host_dir + "/module.py")["SECRET"])
