"""Which packages the machine's Python has: one line `distribution version` for each argument that
is installed. Run by `glovebox doctor` with the interpreter and the folders that boxes use."""
import importlib.metadata
import sys

print("%d.%d.%d" % sys.version_info[:3])
folders = sys.argv[1].split(":")
for name in sys.argv[2:]:
    for found in importlib.metadata.distributions(name=name, path=folders):
        print(name, found.version)
        break
