"""The language layer from outside: ordinary Python is not touched, findings point at the right
place, the standard library itself can be parsed and analysed."""

import glob
import os
import sys
import sysconfig

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
BASIC = {"modules": programs.BASIC_MODULES}

# Program, then (line, column, rule) of everything validation finds in it.
FINDINGS = [
    ("x = 1\n", []),
    ("import os\nos.system('x')\n", [(1, 8, "import")]),
    ("import math, os.path as p\n", [(1, 14, "import")]),
    ("from os import path\n", [(1, 1, "import")]),
    ("from xml.etree import ElementTree\n", []),
    ("from xml import sax\n", [(1, 1, "import")]),
    ("from . import x\n", []),
    ("def f():\n    return f.__globals__\n", [(2, 12, "interpreter-attribute")]),
    ("'\u00e4'; f.__code__\n", [(1, 6, "interpreter-attribute")]),
    ("x = eval('1')\n", [(1, 5, "builtin")]),
    ("open('f')\n", [(1, 1, "builtin")]),
    ("def open(x): pass\nopen(1)\n", []),
    ("().__class__.__base__\n", [(1, 1, "class-walk")]),
    ("object.__subclasses__()\n", [(1, 1, "class-walk")]),
    ("getattr(f, '__code__')\n", [(1, 1, "dynamic-attribute")]),
    ("'{0.__globals__}'.format(f)\n", [(1, 1, "format")]),
    ("match f:\n    case object(__globals__=g): pass\n", [(2, 10, "interpreter-attribute")]),
    ("g.gi_frame\n", [(1, 1, "frame")]),
    ("globals()['__builtins__']\n", [(1, 1, "namespace")]),
    ("x.__reduce_ex__(2)\n", [(1, 1, "pickle")]),
    ("from types import CodeType\n", [(1, 19, "private-member")]),
    ("try:\n    pass\nexcept* ValueError as e:\n    e.__traceback__.tb_frame\n",
     [(4, 5, "frame")]),
    ("@exec\n@input\nclass C: pass\n", [(1, 2, "builtin")]),
]


def check_harmless():
    table = programs.read_table(HERE + "/harmless.txt")
    requests = [{"code": text + "print('reached the end')\n", **BASIC} for text in table.values()]
    problems = []
    for name, answer in zip(table, programs.run(requests)):
        if answer["status"] != "completed" or answer["stdout"] != "reached the end\n":
            reason = answer["traceback"] or answer["message"]
            problems.append(f"{name}: {answer['status']} {reason}")
    return problems


def check_findings():
    requests = [{"code": code, "action": "validate", **BASIC} for code, _ in FINDINGS]
    problems = []
    for (code, expected), answer in zip(FINDINGS, programs.run(requests)):
        found = [(f["line"], f["column"], f["rule"]) for f in answer["findings"]]
        if found != expected or answer["status"] != "completed":
            problems.append(f"{code!r}: {found} instead of {expected} ({answer['message']})")
    return problems


def check_nothing_runs():
    """A refused program has not begun; a rule that is off does not refuse."""
    code = "print('begun')\nf = lambda: 0\nf.__code__\n"
    requests = [{"code": code, **BASIC},
                {"code": "print('begun')\nimport os\n", **BASIC},
                {"code": "open('x', 'w').write('1')\nprint(open('x').read())\n",
                 "builtins": ["open"], **BASIC},
                {"code": code, "rules_off": ["interpreter-attribute"], **BASIC},
                {"code": "try:\n    import socket\nexcept ImportError as e:\n    print(e)\n",
                 **BASIC}]
    static, late, granted, off, caught = programs.run(requests)
    checks = [
        (static["status"], "violated"), (static["stdout"], ""),
        (static["error_type"], "SecurityError"),
        (late["status"], "violated"), (late["stdout"], "begun\n"),
        (late["message"], "ImportError: Import of 'os' is not allowed in sandbox"),
        (granted["status"], "completed"), (granted["stdout"], "1\n"),
        (off["status"], "completed"),
        (caught["status"], "completed"),
        (caught["stdout"], "Import of 'socket' is not allowed in sandbox\n"),
        ([f["rule"] for f in caught["findings"]], ["import"]),
    ]
    return [f"{found!r} instead of {expected!r}" for found, expected in checks if found != expected]


def check_standard_library():
    paths = sorted(glob.glob(sysconfig.get_path("stdlib") + "/*.py"))
    requests = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            requests.append({"code": file.read(), "action": "validate", **BASIC})
    problems = []
    for path, answer in zip(paths, programs.run(requests)):
        if answer["status"] != "completed" or answer.get("complexity", 0) < 1:
            problems.append(f"{path}: {answer['status']} {answer['message']}")
    return problems


def main():
    problems = []
    for check in (check_harmless, check_findings, check_nothing_runs, check_standard_library):
        found = check()
        print(f"{check.__name__[6:]}: {len(found)} problems", flush=True)
        problems += found
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
