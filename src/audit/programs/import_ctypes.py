# The module ctypes.
import ctypes
answer("imported ctypes")
