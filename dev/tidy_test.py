#!/usr/bin/python3
"""Proves that every rule of dev/tidy.py can fail, and that it does not fail on what is right."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy  # noqa: E402  (found through the path set above)

README = {"src/base/README.md": "# base\n", "src/sandbox/child/README.md": "# child\n",
          "src/tools/README.md": "# tools\n", "src/executor/README.md": "# executor\n"}


def problems(files=None):
    """Problems of a small correct tree with `files` laid over it."""
    tree = {
        **README,
        "src/CMakeLists.txt": "add_subdirectory(base)\n",
        "src/base/thing.h": "#pragma once\n\n#include <string>\n",
        "src/base/thing.cc": '#include "base/thing.h"\n',
        "src/base/thing_test.cc": '#include "base/thing.h"\n',
    }
    return tidy.check({**tree, **(files or {})})


def of(path, text):
    return problems({path: text})


class TidyTest(unittest.TestCase):
    def assert_says(self, path, text, message):
        self.assertIn(message, "\n".join(of(path, text)))

    def assert_fine(self, path, text):
        self.assertEqual(of(path, text), [])


class LayerTest(TidyTest):
    def test_names_the_edge_that_is_not_in_the_table(self):
        self.assertEqual(
            of("src/sandbox/child/x.cc", '#include <errno.h>\n\n#include "base/result.h"\n'),
            ["src/sandbox/child/x.cc:3: sandbox/child may not include base/result.h"])

    def test_follows_an_edge_of_the_table(self):
        self.assert_fine("src/tools/x.cc", '#include "executor/outcome.h"\n')
        self.assert_fine("src/executor/x.cc", '#include "python/wire/value.h"\n')

    def test_an_edge_may_not_be_turned_round(self):
        self.assert_says("src/executor/x.cc", '#include "tools/tool.h"\n',
                         "executor may not include tools/tool.h")

    def test_an_include_names_its_layer(self):
        self.assert_says("src/base/x.cc", '#include "thing.h"\n', "names no layer")

    def test_generated_data_is_in_no_layer(self):
        self.assert_fine("src/base/x.cc", '#include "embedded/policies.h"\n')

    def test_our_headers_are_not_system_headers(self):
        self.assert_says("src/base/x.cc", "#include <base/thing.h>\n", "is ours")

    def test_a_file_in_no_layer_is_an_error(self):
        self.assert_says("src/utils/x.h", "#pragma once\n", "is in no layer")
        self.assert_says("src/sandbox/x.h", "#pragma once\n", "is in no layer")
        self.assert_says("src/stray.txt", "x\n", "is in no layer")

    def test_every_edge_leads_to_a_layer_and_none_leads_back(self):
        for layer, edges in tidy.LAYERS.items():
            self.assertLessEqual(edges, set(tidy.LAYERS), layer)

        def below(layer, seen):
            for lower in tidy.LAYERS[layer] - {layer}:
                self.assertNotIn(lower, seen, f"{layer} -> {lower} closes a circle")
                below(lower, seen | {lower})
        for layer in tidy.LAYERS:
            below(layer, {layer})

    def test_cmake_edges_agree_with_the_table(self):
        base = "set(sources thing.cc)\nglovebox_library(base SOURCES ${sources}%s)\n"
        child = "glovebox_library(child AFTER_FORK SOURCES child/x.cc%s)\n"
        files = {"src/base/CMakeLists.txt": base % "", "src/sandbox/CMakeLists.txt": child % ""}
        self.assertEqual(problems(files), [])
        files["src/sandbox/CMakeLists.txt"] = "\n" + child % "\n  DEPENDS base"
        self.assertEqual(problems(files), [
            "src/sandbox/CMakeLists.txt:2: sandbox/child may not depend on base (base)"])


class ShapeTest(TidyTest):
    def test_length_of_a_file(self):
        self.assert_fine("src/base/x.cc", "//\n" * 600)
        self.assert_says("src/base/x.cc", "//\n" * 601, "has 601 lines")

    def test_length_of_a_line(self):
        self.assert_fine("tests/x.py", "#" * 100 + "\n")
        self.assert_says("tests/x.py", "#" * 101 + "\n", "has 101 columns")
        self.assert_fine("docs/x.md", "#" * 101 + "\n")

    def test_source_is_ascii(self):
        self.assert_says("src/base/x.cc", "// caf\u00e9\n", "is not ASCII")
        self.assert_fine("docs/x.md", "caf\u00e9\n")

    def test_the_last_line_ends(self):
        self.assert_says("docs/x.md", "text", "does not end with a newline")
        self.assert_says("docs/x.md", "text\n\n", "ends with blank lines")

    def test_no_line_ends_in_blanks(self):
        self.assert_says("docs/x.md", "text \n", "blanks at the end")
        self.assert_says("docs/x.md", "text\r\n", "blanks at the end")

    def test_a_header_is_read_once(self):
        self.assert_says("src/base/x.h", "int x;\n", "has no #pragma once")


class BanTest(TidyTest):
    def assert_banned(self, line, instead):
        self.assert_says("src/base/x.cc", line + "\n", instead)

    def assert_allowed(self, line):
        self.assert_fine("src/base/x.cc", line + "\n")

    def test_each_ban_names_the_replacement(self):
        self.assert_banned("std::cout << 1;", "transport")
        self.assert_banned("exit(1);", "_exit()")
        self.assert_banned("  std::exit (1);", "_exit()")
        self.assert_banned("int copy = ::dup(fd);", "F_DUPFD_CLOEXEC")
        self.assert_banned("strerror(errno)", "Error::FromErrno")
        self.assert_banned('system("x");', "no shell")
        self.assert_banned('popen("x", "r");', "no shell")
        self.assert_banned("using namespace std;", "write std::")

    def test_markers_are_banned_in_comments_too(self):
        for marker in ("FIX" + "ME", "TO" + "DO", "X" + "XX"):
            self.assert_banned(f"// {marker}: later", "do it now")
            self.assert_says("dev/x.py", f"# {marker}\n", "do it now")
        self.assert_allowed('mkdtemp("/tmp/' + "X" * 6 + '");')

    def test_a_silenced_check_has_a_name(self):
        self.assert_banned("int x;  // NOLINT", "NOLINT(check-name)")
        self.assert_banned("// NOLINTNEXTLINE: because", "NOLINT(check-name)")
        self.assert_allowed("int x;  // NOLINT(google-explicit-constructor): both ways")

    def test_lookalikes_are_allowed(self):
        for line in ("_exit(1);", "box.exit(1);", "box->exit(1);", "Foo::exit(1);",
                     "dup3(a, b, c);", "boost::system::error_code code;",
                     "// then exit(1)", 'Run("sys.exit(3)");',
                     'R"(import os; os.dup(1); os.system("x"))"', "/* dup(1)\n   exit(1) */",
                     "int n = 30'000; char c = '\"'; int m = 1;"):
            self.assert_allowed(line)

    def test_code_after_a_literal_is_still_seen(self):
        self.assert_banned("int n = 30'000; exit(1); int m = 10'000;", "_exit()")
        self.assert_banned("char c = '\"'; exit(1); char d = '\"';", "_exit()")

    def test_no_file_names_a_registry(self):
        for host in (("deb", "debian", "org"), ("registry", "npmjs", "org")):
            self.assert_says("docs/x.md", f"see {'.'.join(host)}\n", "never a registry's host")


class FolderTest(TidyTest):
    def test_names_are_snake_case(self):
        for name in ("BoxInit.cc", "box-init.cc", "boxInit.cc"):
            self.assert_says("src/base/" + name, "//\n", "snake_case")
        self.assert_fine("src/base/box_init2.cc", "//\n")

    def test_a_test_stands_beside_its_subject(self):
        self.assert_says("src/base/ghost_test.cc", "//\n", "tests nothing")

    def test_a_layer_has_a_readme(self):
        self.assert_says("src/event/event.h", "#pragma once\n", "src/event/README.md:1: is missing")

    def test_a_readme_is_short(self):
        self.assert_fine("src/base/README.md", "x\n" * 40)
        self.assert_says("src/base/README.md", "x\n" * 41, "more than 40 lines")


class ProgramTest(unittest.TestCase):
    def test_a_correct_tree_has_no_problems(self):
        self.assertEqual(problems(), [])

    def run_on(self, text):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(root + "/src/base")
            for path, content in (("README.md", "# base\n"), ("x.cc", text)):
                with open(f"{root}/src/base/{path}", "w", encoding="utf-8") as file:
                    file.write(content)
            return subprocess.run([sys.executable, tidy.__file__, root], stdout=subprocess.PIPE,
                                  text=True, check=False)

    def test_exit_status_says_whether_there_are_problems(self):
        self.assertEqual(self.run_on("int x;\n").returncode, 0)
        bad = self.run_on("int x; \n")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("src/base/x.cc:1: has blanks", bad.stdout)

    def test_an_empty_tree_proves_nothing(self):
        with tempfile.TemporaryDirectory() as root:
            run = subprocess.run([sys.executable, tidy.__file__, root], stdout=subprocess.PIPE,
                                 check=False)
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
