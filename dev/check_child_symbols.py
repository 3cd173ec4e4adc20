#!/usr/bin/python3
"""Fails when code that runs after a fork calls something it may not.

    dev/check_child_symbols.py ARCHIVE

After the clone of a threaded process any lock may be held for ever, the allocator's first of all.
What such code may call is therefore a list, and the list is checked on what the compiler really
emitted: the undefined symbols of the static archive. Run after every build of a library that
glovebox_library() was told is AFTER_FORK.
"""

import collections
import subprocess
import sys

ALLOWED = frozenset("""
    _exit execve prctl setsid syscall write
    memcpy memmove memset strlen memcmp
    __errno_location
    __stack_chk_fail __memcpy_chk __memset_chk
    _GLOBAL_OFFSET_TABLE_
""".split())


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout


def symbols(archive, option):
    """{symbol: names of the members that have it} as `nm option` lists them."""
    found = collections.defaultdict(set)
    for line in run("nm", "--format=posix", "--print-file-name", option, archive).splitlines():
        place, symbol = line.rsplit(": ", 1)
        found[symbol.split()[0]].add(place.rsplit("[", 1)[-1].rstrip("]"))
    return found


def demangled(name):
    return run("c++filt", text=name + "\n").strip()


def problems(archive):
    undefined = symbols(archive, "--undefined-only")
    own = symbols(archive, "--defined-only")
    for symbol in sorted(undefined.keys() - own.keys() - ALLOWED):
        members = ", ".join(sorted(undefined[symbol]))
        yield f"'{demangled(symbol)}' is not allowed after fork (in {members})"


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_child_symbols.py ARCHIVE", file=sys.stderr)
        return 2
    found = list(problems(arguments[0]))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
