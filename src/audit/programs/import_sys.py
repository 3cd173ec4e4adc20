# The module sys.
import sys
answer("imported sys")
