"""What clients of earlier Python servers rely on, as those servers' own tests say it, and what a
jail for Python is expected to do.
"""
import os
import pathlib
import subprocess
import sys
import unittest

from http_server import GLOVEBOX, SOURCES, Server, environment, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

TOKEN = "t" * 32


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = StdioServer([GLOVEBOX, "serve", *SOURCES], environment())
        cls.server.ask("initialize", INITIALIZE)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def call(self, tool, arguments):
        return self.server.ask("tools/call", {"name": tool, "arguments": arguments})

    def execute(self, code, **arguments):
        return self.call("execute_code", {"code": code, **arguments})["structuredContent"]

    def validate(self, code):
        return self.call("validate_code", {"code": code})["structuredContent"]


class ServerOfTheDefaultProfile(Contract):
    def test_print_is_captured(self):
        answer = self.execute("print('Hello, World!')")
        self.assertTrue(answer["success"])
        self.assertEqual(answer["stdout"], "Hello, World!\n")

    def test_an_expression_has_a_result(self):
        self.assertEqual(self.execute("2 + 2")["result"], 4)

    def test_an_exception_is_named(self):
        answer = self.execute("1 / 0")
        self.assertFalse(answer["success"])
        self.assertEqual(answer["error"], "ZeroDivisionError: division by zero")

    def test_import_os_is_refused(self):
        answer = self.execute("import os\nos.listdir('/')")
        self.assertFalse(answer["success"])
        self.assertIn("'os'", answer["error"])

    def test_validation(self):
        self.assertTrue(self.validate("x = 1 + 1")["valid"])
        self.assertFalse(self.validate("x = = 1")["valid"])

    def test_info(self):
        info = self.call("get_sandbox_info", {})["structuredContent"]
        for key in ("safe_builtins", "allowed_imports", "timeout_seconds"):
            self.assertIn(key, info)


class EscapesOfTheDefaultProfile(Contract):
    def test_class_hierarchy_walk(self):
        walk = "().__class__.__bases__[0].__subclasses__()"
        self.assertEqual(self.execute(walk)["status"], "violated")
        self.assertEqual(self.execute(walk, profile="full")["status"], "completed")

    def test_getattr_with_a_concatenated_dunder(self):
        code = "getattr((), '__cla' + 'ss__')"
        self.assertFalse(self.execute(code)["success"])
        self.assertTrue(self.execute(code, profile="full")["success"])

    def test_builtins_work(self):
        self.assertEqual(self.execute("len('hello')")["result"], 5)
        self.assertIs(self.execute("hasattr('', 'upper')")["result"], True)

    def test_assigning_a_class_fails(self):
        self.assertFalse(self.execute("x = 1\nx.__class__ = str")["success"])

    def test_http_without_a_token_does_not_start_on_an_open_address(self):
        ended = run(*SOURCES, SANDBOX_TRANSPORT="http", SANDBOX_HOST="0.0.0.0", SANDBOX_PORT="0")
        self.assertEqual(ended.returncode, 1)

    def test_http_with_a_short_token_does_not_start(self):
        ended = run(*SOURCES, SANDBOX_TRANSPORT="http", SANDBOX_HOST="0.0.0.0", SANDBOX_PORT="0",
                    SANDBOX_API_TOKEN="short")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("32", ended.stderr)

    def test_tokens_over_http(self):
        with Server(SANDBOX_API_TOKEN=TOKEN) as server:
            self.assertEqual(server.ask("tools/list")[0], 401)
            self.assertEqual(server.ask("tools/list", token="x" * 32)[0], 401)
            self.assertEqual(server.ask("tools/list", token=TOKEN)[0], 200)


class ServerWithContainers(Contract):
    def test_the_three_tools_are_listed(self):
        names = {tool["name"] for tool in self.server.ask("tools/list", {})["tools"]}
        self.assertLessEqual({"execute_code", "validate_code", "list_capabilities"}, names)

    def test_capabilities(self):
        answer = self.call("list_capabilities", {})["structuredContent"]
        for key in ("sandbox_type", "security_features", "limits", "safe_modules"):
            self.assertIn(key, answer)

    def test_simple_execution(self):
        answer = self.execute("result = 2 + 2\nprint('sum:', result)")
        self.assertEqual((answer["result"], answer["stdout"]), (4, "sum: 4\n"))
        self.assertGreaterEqual(answer["execution_time"], 0)
        self.assertRegex(answer["execution_id"], r"^[0-9a-f-]{36}$")

    def test_an_allowed_import(self):
        self.assertEqual(self.execute("import math\nresult = math.sqrt(16)")["result"], 4.0)

    def test_validation_of_safe_code(self):
        answer = self.validate("a = 1\nb = a + 1\nprint(b)")
        self.assertTrue(answer["validation"]["valid"])
        self.assertGreater(answer["analysis"]["line_count"], 1)
        self.assertIn("estimated_complexity", answer["analysis"])

    def test_validation_of_dangerous_code(self):
        self.assertFalse(self.validate("import os\nos.system('ls')")["validation"]["valid"])

    def test_a_timeout(self):
        answer = self.execute("while True: pass", timeout=2)
        self.assertFalse(answer["success"])
        self.assertIn("timeout", answer["error"].lower())
        self.assertEqual(answer["status"], "timed_out")

    def test_empty_code(self):
        self.assertIn("Empty code", self.execute("  ")["error"])

    def test_code_that_is_too_large(self):
        self.assertIn("too large", self.execute("x" * 300_000)["error"])

    def test_a_syntax_error(self):
        self.assertFalse(self.execute("def f(:")["success"])

    def test_an_exception(self):
        self.assertIn("division by zero", self.execute("1 / 0")["error"].lower())

    def test_result_types(self):
        for code in ("42", "'text'", "[1, 2]", "{'a': 1}", "True", "1.5"):
            self.assertIsNotNone(self.execute("result = " + code)["result"], code)

    def test_three_prints(self):
        self.assertEqual(self.execute("for i in range(3): print(i)")["stdout"], "0\n1\n2\n")

    def test_container_mode_is_refused_in_words(self):
        answer = self.execute("1", use_container=True)
        self.assertFalse(answer["success"])
        self.assertIn("container", answer["error"].lower())

    def test_an_unknown_tool(self):
        with self.assertRaisesRegex(AssertionError, "Unknown tool"):
            self.call("no_such_tool", {})

    def test_a_recursive_factorial(self):
        code = ("import math\ndef fact(n):\n    return 1 if n <= 1 else n * fact(n - 1)\n"
                "result = fact(10) + math.floor(math.pi)")
        self.assertEqual(self.execute(code)["result"], 3628803)


class BehaviourOfAJail(unittest.TestCase):
    def run_code(self, code, *flags, stdin=""):
        return subprocess.run([GLOVEBOX, "exec", *flags, "-c", code], capture_output=True,
                              text=True, input=stdin, timeout=60)

    def test_print(self):
        ended = self.run_code("print('test')")
        self.assertEqual((ended.returncode, ended.stdout), (0, "test\n"))

    def test_run_past_the_wall_limit(self):
        self.assertEqual(self.run_code("while True: pass", "--timeout", "1").returncode, 124)

    def test_allocate_past_the_memory_cap(self):
        ended = self.run_code("x = bytearray(1 << 40)\nprint('there')")
        self.assertNotEqual(ended.returncode, 0)
        self.assertEqual(ended.stdout, "")

    def test_several_files_one_importing_another(self):
        code = "open('lib.py', 'w').write('value = 7')\nimport lib\nprint(lib.value)"
        self.assertEqual(self.run_code(code).stdout, "7\n")

    def test_two_processes_over_one_cap(self):
        code = ("import os, signal\npids = []\n"
                "for _ in range(2):\n    pid = os.fork()\n    if pid == 0:\n"
                "        x = b'x' * (90 << 20)\n        import time; time.sleep(1); os._exit(0)\n"
                "    pids.append(pid)\n"
                "print(any(os.WIFSIGNALED(os.waitpid(p, 0)[1]) for p in pids))")
        ended = self.run_code(code, "--memory", "128m")
        self.assertTrue(ended.returncode == 137 or ended.stdout == "True\n", ended)

    def test_multiprocessing_pool(self):
        code = ("from multiprocessing import Pool\ndef f(x): return x * x\n"
                "with Pool(2) as pool: print(pool.map(f, [1, 2, 3]))")
        self.assertEqual(self.run_code(code).stdout, "[1, 4, 9]\n")

    def test_write_to_system_paths(self):
        ended = self.run_code("open('/usr/lib/x', 'w')")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, "Read-only file system|Permission denied")

    def test_write_in_the_home_area(self):
        code = ("import os\npath = os.path.expanduser('~/x')\nopen(path, 'w').write('y')\n"
                "print(open(path).read())")
        self.assertEqual(self.run_code(code).stdout, "y\n")

    def test_write_past_the_quota(self):
        code = ("for i in range(80):\n"
                "    with open(f'/work/{i}', 'wb') as f: f.write(b'x' * (1 << 20))")
        ended = self.run_code(code, "--memory", "1g")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("No space left on device", ended.stderr)

    def test_fork_bomb(self):
        code = "import os\nwhile True: os.fork()"
        ended = self.run_code(code, "--timeout", "5")
        self.assertIn(ended.returncode, (1, 124, 137))

    def test_sigsegv(self):
        code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        self.assertEqual(self.run_code(code).returncode, 139)

    def test_nul_byte_in_the_source(self):
        ended = subprocess.run([GLOVEBOX, "exec", "-"], input=b"print(1)\0", capture_output=True)
        self.assertEqual((ended.returncode, ended.stdout), (1, b""))
        self.assertIn(b"null bytes", ended.stderr)

    def test_printing_a_lone_surrogate(self):
        ended = self.run_code("print(chr(0xd800))")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("UnicodeEncodeError", ended.stderr)

    def test_tampering_with_the_environment(self):
        code = "import os; os.environ['PYTHONIOENCODING'] = 'utf-16'; print('clean')"
        self.assertEqual(self.run_code(code).stdout, "clean\n")

    def test_shared_memory_within_the_mount_size(self):
        code = ("from multiprocessing.shared_memory import SharedMemory\n"
                "m = SharedMemory(create=True, size=1 << 20); m.buf[0] = 7; print(m.buf[0])\n"
                "m.close(); m.unlink()")
        self.assertEqual(self.run_code(code).stdout, "7\n")

    def test_import_numpy(self):
        self.assertEqual(self.run_code("import numpy; print(numpy.arange(3).sum())").stdout, "3\n")

    def test_output_flood(self):
        ended = self.run_code("while True: print('x' * 1000)", "--json", "--timeout", "20")
        self.assertEqual(ended.returncode, 137)

    def test_large_output_is_cut(self):
        ended = self.run_code("print('x' * (2 << 20))", "--json")
        self.assertIn("[Output truncated]", ended.stdout)

    def test_interpreter_arguments(self):
        ended = subprocess.run([GLOVEBOX, "exec", "-c", "import sys; print(sys.argv[1:])", "--",
                                "a", "b"], capture_output=True, text=True)
        self.assertEqual(ended.stdout, "['a', 'b']\n")

    def test_nothing_is_left_of_files(self):
        self.run_code("open('/tmp/glovebox_contract', 'w').write('x')")
        self.assertFalse(os.path.exists("/tmp/glovebox_contract"))


if __name__ == "__main__":
    unittest.main()
