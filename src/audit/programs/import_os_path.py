# The module os.path.
import os.path
answer("imported os.path")
