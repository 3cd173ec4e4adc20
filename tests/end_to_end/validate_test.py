"""`glovebox validate` as people and scripts use it: what is shown, JSON, exit codes."""
import json
import os
import subprocess
import tempfile
import unittest

GLOVEBOX = os.environ["GLOVEBOX"]


def run(*arguments, text=None):
    return subprocess.run([GLOVEBOX, "validate", *arguments], input=text or "", timeout=60,
                          capture_output=True, text=True, check=False)


class Validate(unittest.TestCase):
    def test_valid_code(self):
        done = run("-c", "import math\nprint(math.pi)")
        self.assertEqual((done.returncode, done.stdout), (0, "<code>: valid\n"))

    def test_a_finding_has_place_rule_reason_and_remedy(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("x = 1\nimport os\n")
            file.flush()
            done = run(file.name)
            self.assertEqual(done.returncode, 1)
            lines = done.stdout.split("\n")
            self.assertEqual(lines[0], f"{file.name}:2:8: Import 'os' is not allowed [import]")
        self.assertEqual(lines[1:3], ["    import os", "           ^"])
        self.assertIn("why: ", lines[3])
        self.assertIn("instead: ", lines[4])
        self.assertEqual(lines[5], "1 finding")

    def test_a_syntax_error_has_a_caret(self):
        done = run("-", text="x = 1\ny = = 2\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout,
                         "<code>:2:5: SyntaxError: invalid syntax\n    y = = 2\n        ^\n")

    def test_what_the_compiler_finds_after_parsing(self):
        done = run("-c", "return 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'return' outside function", done.stdout)

    def test_json_is_the_document_of_the_tool(self):
        document = json.loads(run("--json", "-c", "import os; os.system('ls')").stdout)
        self.assertEqual(document["errors"], ["Line 1: Import 'os' is not allowed"])
        self.assertEqual(document["message"], "Code contains restricted operations")
        self.assertFalse(document["validation"]["valid"])
        self.assertEqual(document["analysis"]["imports"], ["os"])
        self.assertEqual(document["findings"][0]["column"], 8)

    def test_analysis_of_the_tree(self):
        code = ("def f(x):\n    if x and x > 1:\n        return 1\n"
                "    return [y for y in x if y]\nz = 3\n")
        analysis = json.loads(run("--json", "-c", code).stdout)["analysis"]
        self.assertEqual(analysis["cyclomatic_complexity"], 4)
        self.assertEqual(analysis["names_defined"], ["f", "z"])
        self.assertEqual((analysis["function_count"], analysis["line_count"]), (1, 6))

    def test_profiles_and_single_modules(self):
        self.assertEqual(run("--profile", "full", "-c", "import os").returncode, 0)
        self.assertEqual(run("--allow-import", "os", "-c", "import os.path").returncode, 0)
        done = run("--profile", "nonsense", "-c", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--profile must be", done.stderr)

    def test_nothing_runs(self):
        self.assertEqual(run("-c", "print('run')\nraise SystemExit(9)").stdout, "<code>: valid\n")

    def test_a_missing_file(self):
        done = run("/nowhere/x.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/x.py", done.stderr)


if __name__ == "__main__":
    unittest.main()
