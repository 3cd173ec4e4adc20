"""What code finds in a box: the interpreter, its modules, the packages beside it. Runs in a box,
because only a box knows. `profiles` maps names of profiles to names of modules."""
import builtins
import importlib.metadata
import importlib.util
import platform
import sys


def importable(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def packages():
    versions = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name and name not in versions:  # the first on the path is the one that is imported
            versions[name] = distribution.version
    return [{"name": name, "version": versions[name]} for name in sorted(versions, key=str.lower)]


def importable_count():
    standard = {name for name in sys.stdlib_module_names if not name.startswith("_")}
    return len(standard | set(importlib.metadata.packages_distributions()))


{
    "python_version": platform.python_version(),
    "python_implementation": platform.python_implementation(),
    "installed": {name: [module for module in modules if importable(module)]
                  for name, modules in profiles.items()},
    "importable_count": importable_count(),
    "builtins": sorted(name for name in dir(builtins) if not name.startswith("_")),
    "packages": packages(),
}
