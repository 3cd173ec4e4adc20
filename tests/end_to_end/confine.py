"""Runs a command under a system-call filter of confinements.toml.

    confine.py NAME COMMAND...

The filter is made with libseccomp and stays on everything the command starts.
"""
import ctypes
import errno
import os
import pathlib
import sys
import tomllib

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
EQUAL, MASKED_EQUAL = 4, 7
CONTROL_NNP = 3
CAP_SYS_ADMIN = 21


class Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int),
                ("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


LIBRARY = ctypes.CDLL("libseccomp.so.2")
LIBRARY.seccomp_init.restype = ctypes.c_void_p
LIBRARY.seccomp_rule_add_array.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Compare)]
LIBRARY.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
LIBRARY.seccomp_load.argtypes = [ctypes.c_void_p]


def tests(rule):
    """The comparisons of one rule; a mask of several bits is one rule for each of them."""
    if "any_of" in rule:
        bits = [1 << bit for bit in range(64) if rule["any_of"] >> bit & 1]
        return [Compare(rule["argument"], MASKED_EQUAL, bit, bit) for bit in bits]
    if "all_of" in rule:
        return [Compare(rule["argument"], MASKED_EQUAL, rule["all_of"], rule["all_of"])]
    if "equals" in rule:
        return [Compare(rule["argument"], EQUAL, number, 0) for number in rule["equals"]]
    return [None]


def may_administrate():
    status = pathlib.Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return int(effective.split()[1], 16) >> CAP_SYS_ADMIN & 1 == 1


def install(name):
    table = tomllib.loads(pathlib.Path(__file__).with_name("confinements.toml").read_text())
    context = LIBRARY.seccomp_init(ALLOW)
    # Who may load a filter without giving up new privileges keeps them, as a container's root does.
    LIBRARY.seccomp_attr_set(context, CONTROL_NNP, 0 if may_administrate() else 1)
    for rule in table[name]:
        action = ERRNO | getattr(errno, rule["errno"])
        for call in rule["calls"]:
            number = LIBRARY.seccomp_syscall_resolve_name(call.encode())
            if number == -1:
                raise SystemExit(f"confine: libseccomp does not know {call}")
            for test in tests(rule):
                added = LIBRARY.seccomp_rule_add_array(
                    context, action, number, int(test is not None),
                    ctypes.byref(test) if test is not None else None)
                if added != 0:
                    raise SystemExit(f"confine: {call}: {os.strerror(-added)}")
    loaded = LIBRARY.seccomp_load(context)
    if loaded != 0:
        raise SystemExit(f"confine: loading the filter: {os.strerror(-loaded)}")


if __name__ == "__main__":
    install(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
