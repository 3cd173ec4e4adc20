# What platform tells of the host.
import platform
answer({"system": platform.system(), "node": platform.node(), "release": platform.release(),
        "version": platform.version(), "machine": platform.machine()})
