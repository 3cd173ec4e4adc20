"""`glovebox exec` as people and scripts use it: exit codes, streams, JSON, Python's manners."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

GLOVEBOX = os.environ["GLOVEBOX"]


def run(*arguments, stdin=subprocess.DEVNULL, **options):
    kind = {"input": stdin} if isinstance(stdin, (str, bytes)) else {"stdin": stdin}
    return subprocess.run([GLOVEBOX, "exec", *arguments], capture_output=True, timeout=60,
                          text=not isinstance(stdin, bytes), **kind, **options)


def document(code, *arguments, **options):
    return json.loads(run("--json", *arguments, "-c", code, **options).stdout)


class ExitCodes(unittest.TestCase):
    def check(self, expected, code, *arguments):
        self.assertEqual(run(*arguments, "-c", code).returncode, expected)

    def test_every_code_of_the_table(self):
        self.check(0, "print(2+2)")
        self.check(1, "1/0")
        self.check(7, "import sys; sys.exit(7)")
        self.check(1, "import sys; sys.exit('bye')")
        self.check(0, "import sys; sys.exit(0)")
        self.check(128 + signal.SIGSEGV, "import ctypes; ctypes.string_at(0)")
        self.check(128 + signal.SIGTERM, "import os; os.kill(os.getpid(), 15)")
        self.check(124, "while True: pass", "--timeout", "0.3")
        self.check(137, "x = []\nwhile True: x.append(bytearray(10**6))", "--memory", "32m")
        self.check(1, "import os; os._exit(0)")

    def test_usage(self):
        for arguments in (["--timeout", "0", "-c", "1"], ["--memory", "lots", "-c", "1"],
                          ["--memory", "1k", "-c", "1"], ["--no-such-option"], ["/no/such/file"]):
            ended = run(*arguments)
            self.assertEqual(ended.returncode, 2, arguments)
            self.assertTrue(ended.stderr, arguments)

    def test_profile(self):
        self.check(0, "import math; print(math.pi)", "--profile", "basic")
        refused = run("--profile", "basic", "-c", "import os")
        self.assertEqual(refused.returncode, 126)
        self.assertIn("Import of 'os' is not allowed", refused.stderr)
        self.check(0, "import os", "--profile", "full")
        for name in ("nonsense", "basic+nonsense"):
            ended = run("--profile", name, "-c", "1")
            self.assertEqual(ended.returncode, 2, name)
            self.assertIn("--profile must be", ended.stderr)

    def test_violated(self):
        # The first call of the x32 table.
        self.check(126, "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)")

    def test_cancelled(self):
        code = "print('up', flush=True)\nwhile 1: pass"
        process = subprocess.Popen([GLOVEBOX, "exec", "-c", code], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)
        process.stdout.close()


class Streams(unittest.TestCase):
    def test_input_comes_as_it_is_typed(self):
        self.assertEqual(run("-c", "print(input().upper())", stdin="hello\n").stdout, "HELLO\n")
        self.assertEqual(run("-c", "import sys; print(repr(sys.stdin.read()))").stdout, "''\n")

    def test_code_from_stdin_file_and_arguments(self):
        self.assertEqual(run("-", stdin="print('from stdin')").stdout, "from stdin\n")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write("import sys\nprint(sys.argv[1:], __name__, __file__ == sys.argv[0])\n1\n")
            script.flush()
            # Of a script nobody expects the last value.
            self.assertEqual(run(script.name, "--", "a", "b").stdout,
                             "['a', 'b'] __main__ True\n")

    def test_value_and_traceback_for_people(self):
        self.assertEqual(run("-c", "print('a', end='')\n2 + 2").stdout, "a\n4\n")
        ended = run("-c", "def f():\n    return 1/0\nf()")
        self.assertIn('File "<sandbox>", line 2, in f\n    return 1/0', ended.stderr)
        self.assertNotIn("<glovebox>", ended.stderr)

    def test_closed_streams_hurt_nobody(self):
        command = f"{GLOVEBOX} exec -c 'print(1)'"
        for closed in (">&-", "<&-", "2>&-", "<&- >&- 2>&-"):
            ended = subprocess.run(["sh", "-c", f"{command} {closed}"], timeout=60)
            self.assertEqual(ended.returncode, 0, closed)

    def test_a_reader_that_does_not_read_does_not_stop_the_clock(self):
        start = time.monotonic()
        code = "import os\nwhile 1: os.write(1, b'x' * 9999)"
        process = subprocess.Popen([GLOVEBOX, "exec", "--timeout", "1", "-c", code],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        time.sleep(2.5)
        process.stdout.read()
        self.assertIn(process.wait(10), (124, 137))
        process.stdout.close()
        self.assertLess(time.monotonic() - start, 10)


class Documents(unittest.TestCase):
    def test_success(self):
        answer = document("x = 5\nprint('hi')\nx * 2")
        self.assertEqual((answer["success"], answer["status"], answer["result"]),
                         (True, "completed", 10))
        self.assertEqual((answer["stdout"], answer["variables"]), ("hi\n10", ["x"]))
        for key in ("execution_id", "execution_time", "cpu_time", "queue_time", "security_events"):
            self.assertIn(key, answer)

    def test_failure(self):
        answer = document("import json\njson.loads('{')")
        self.assertFalse(answer["success"])
        self.assertEqual((answer["error_type"], answer["error_line"]), ("JSONDecodeError", 2))
        self.assertNotIn("/usr/lib", answer["traceback"])

    def test_a_refusal_is_an_event_and_a_sentence(self):
        answer = document("import subprocess\ntry: subprocess.run(['ls'])\n"
                          "except PermissionError as error: print(error)")
        self.assertTrue(answer["success"])
        self.assertIn("cannot run programs", answer["stdout"])
        self.assertEqual(answer["security_events"][0]["operation"], "subprocess.Popen")

    def test_limits_are_named(self):
        self.assertEqual(document("x = 'a' * 10**10")["limits_hit"], ["memory"])
        self.assertIn("wall", document("while 1: pass", "--timeout", "0.2")["limits_hit"])
        self.assertIn("pids", document("import os\ntry:\n  while 1:\n    if os.fork() == 0:\n"
                                       "      import time; time.sleep(9)\nexcept OSError: pass"
                                       )["limits_hit"])


class Manners(unittest.TestCase):
    """Programs that behave here as they do under /usr/bin/python3."""

    PROGRAMS = {
        "top-level await": "import asyncio\nawait asyncio.sleep(0.01)\nprint('after')",
        "threads are awaited": "import threading, time\ndef f(): time.sleep(.1); print('t')\n"
                               "threading.Thread(target=f).start()",
        "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
        "destructors": "class A:\n    def __del__(self): print('gone')\na = A()",
        "fork": "import os\nif os.fork() == 0: print('child')\nelse: os.wait(); print('parent')",
        "pool": "from multiprocessing import Pool\ndef f(x): return x * x\n"
                "with Pool(2) as p: print(p.map(f, [1, 2, 3]))",
        "shared memory": "from multiprocessing import shared_memory as m\n"
                         "s = m.SharedMemory(create=True, size=9); s.buf[0] = 7; print(s.buf[0])\n"
                         "s.close(); s.unlink()",
        "sqlite": "import sqlite3, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
                  "    c = sqlite3.connect(folder + '/x'); c.execute('create table t(a)')\n"
                  "    c.execute('insert into t values(1)'); c.commit()\n"
                  "    print(c.execute('select * from t').fetchall())",
        "pickle of a class": "import pickle\nclass P:\n    x = 3\n"
                             "print(pickle.loads(pickle.dumps(P())).x)",
        "dataclass": "from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int\n"
                     "print(D(1))",
        "C output": "import ctypes\nn = ctypes.CDLL(None).puts(b'from C')",
        "callbacks from C": "import ctypes\nF = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)\n"
                            "print(F(lambda x: x + 1)(4))",
        "locale": "import locale\nprint(locale.setlocale(locale.LC_ALL, ''))",
        "unicode": "print('h\u00e9llo \U0001F40D')",
        "signal handler": "import signal, os\nsignal.signal(10, lambda *_: print('got it'))\n"
                          "os.kill(os.getpid(), 10)",
        "os.__file__": "import os\nprint(os.path.basename(os.__file__))",
        "numpy": "import numpy\nprint(numpy.arange(3).sum())",
    }

    def test_same_output_as_python(self):
        environment = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": ""}
        for name, program in self.PROGRAMS.items():
            with self.subTest(name):
                box = run("-c", program, env=environment)
                if name == "top-level await":
                    self.assertEqual(box.stdout, "after\n")
                    continue
                bare = subprocess.run(["/usr/bin/python3", "-c", program], capture_output=True,
                                      text=True, timeout=60, env=environment)
                self.assertEqual((box.stdout, box.returncode), (bare.stdout, bare.returncode),
                                 box.stderr)

    def test_nothing_random_repeats(self):
        code = "import random, uuid, os; print(random.random(), uuid.uuid4(), os.urandom(8))"
        self.assertNotEqual(run("-c", code).stdout, run("-c", code).stdout)


if __name__ == "__main__":
    unittest.main()
