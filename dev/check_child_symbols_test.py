#!/usr/bin/python3
"""Compiles small archives and shows them to dev/check_child_symbols.py."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_child_symbols.py")
COMPILER = os.environ.get("CXX", "c++")


class CheckChildSymbolsTest(unittest.TestCase):
    def check(self, options=(), **sources):
        """(exit status, messages) for an archive of one member per source."""
        with tempfile.TemporaryDirectory() as folder:
            members = []
            for name, text in sources.items():
                with open(f"{folder}/{name}.cc", "w", encoding="utf-8") as file:
                    file.write(text)
                members.append(f"{folder}/{name}.cc.o")
                subprocess.run([COMPILER, "-std=c++20", "-O1", "-fPIC", *options, "-c",
                                f"{folder}/{name}.cc", "-o", members[-1]], check=True)
            archive = f"{folder}/libchild.a"
            subprocess.run(["ar", "qcs", archive, *members], check=True)
            run = subprocess.run([sys.executable, CHECKER, archive], stderr=subprocess.PIPE,
                                 text=True, check=False)
            return run.returncode, run.stderr

    def test_allows_system_calls(self):
        self.assertEqual(self.check(x="""
            #include <errno.h>
            #include <unistd.h>
            int f() { return write(1, "", 0) == 0 ? 0 : errno; }
            void g() { _exit(1); }
            """), (0, ""))

    def test_names_what_is_not_allowed_and_where(self):
        status, text = self.check(x="int* f() { return new int[8]; }", y="int g() { return 0; }")
        self.assertEqual(status, 1)
        self.assertEqual(text, "'operator new[](unsigned long)' is not allowed after fork"
                               " (in x.cc.o)\n")

    def test_refuses_strings(self):
        status, text = self.check(x="""
            #include <string>
            std::string f(const char* text) { return std::string(text) + text; }
            """)
        self.assertEqual(status, 1)
        self.assertIn("std::", text)

    def test_refuses_exceptions_and_locked_statics(self):
        self.assertIn("__cxa_throw", self.check(x="void f() { throw 1; }")[1])
        self.assertIn("__cxa_guard_acquire",
                      self.check(x="int g(); int f() { static int x = g(); return x; }")[1])

    def test_refuses_sanitizer_instrumentation(self):
        status, text = self.check(options=["-fsanitize=address"], x="int f(int* p) { return *p; }")
        self.assertEqual(status, 1)
        self.assertIn("__asan_", text)

    def test_members_may_call_each_other(self):
        self.assertEqual(self.check(x="int g(); int f() { return g(); }",
                                    y="int g() { return 0; }"), (0, ""))


if __name__ == "__main__":
    unittest.main()
