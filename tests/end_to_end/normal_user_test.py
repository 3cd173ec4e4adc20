"""Glovebox as a normal user (nobody): no root, no cgroup, the same walls."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

NOBODY = 65534
MIB = 1 << 20
LIMIT = 128 * MIB


def setUpModule():
    """Programs where nobody can reach them, whoever owns the build tree."""
    global FOLDER, GLOVEBOX
    FOLDER = tempfile.mkdtemp(prefix="glovebox-nobody-")
    os.chmod(FOLDER, 0o755)
    built = os.path.dirname(os.environ["GLOVEBOX"])
    for name in ("glovebox", "glovebox-init", "glovebox-python"):
        shutil.copy(os.path.join(built, name), FOLDER)
    GLOVEBOX = os.path.join(FOLDER, "glovebox")


def tearDownModule():
    shutil.rmtree(FOLDER)


def document(code, *arguments):
    ended = subprocess.run([GLOVEBOX, "exec", "--json", *arguments, "-c", code],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                           cwd="/", user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    return json.loads(ended.stdout or json.dumps({"status": ended.stderr}))


class NormalUser(unittest.TestCase):
    def test_runs(self):
        result = document("print(2+2)")
        self.assertEqual((result["status"], result["stdout"]), ("completed", "4\n"))
        self.assertEqual(result["limits_tier"], "supervisor")
        self.assertNotIn("missing_walls", result)

    def test_the_box_holds_no_privilege(self):
        code = """
import os
status = open('/proc/self/status').read()
caps = [line.split()[1] for line in status.splitlines() if line.startswith('Cap')]
print(os.getuid(), set(caps), 'NoNewPrivs:\\t1' in status, os.listdir('/proc/self/fd')[:9])
"""
        self.assertTrue(document(code)["stdout"].startswith(
            "1000 {'0000000000000000'} True"), document(code))

    def test_on_the_host_every_process_is_the_users(self):
        process = subprocess.Popen([GLOVEBOX, "exec", "-c", "print(1, flush=True)\nwhile 1: pass"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
                                   user=NOBODY, group=NOBODY, extra_groups=[])
        try:
            process.stdout.readline()
            family, uids = [process.pid], set()
            for pid in family:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                    family += children.read().split()
                with open(f"/proc/{pid}/status", encoding="ascii") as status:
                    uids |= {line for line in status if line.startswith("Uid:")}
            self.assertGreaterEqual(len(family), 4, "server, zygote, init, Python")
            self.assertEqual(uids, {"Uid:" + f"\t{NOBODY}" * 4 + "\n"})
        finally:
            process.kill()
            process.stdout.close()
            process.wait()

    def test_the_hosts_files_are_not_there(self):
        with tempfile.NamedTemporaryFile(dir=FOLDER) as canary:
            os.chmod(canary.name, 0o666)
            result = document(f"open({canary.name!r}).read()")
            self.assertEqual(result["error_type"], "FileNotFoundError")

    def test_memory_ends_below_the_limit_and_a_quarter(self):
        mapped = ("import mmap\nm = mmap.mmap(-1, {size} << 20, {flags} | mmap.MAP_ANONYMOUS)\n"
                  "for i in range(0, {size} << 20, 4096): m[i] = 1")
        for name, code in {
            "heap": "x = []\nwhile True: x.append(bytearray(1 << 20))",
            "private mapping, refused whole": mapped.format(size=1024, flags="mmap.MAP_PRIVATE"),
            "private mapping, page by page": mapped.format(size=200, flags="mmap.MAP_PRIVATE"),
            "shared mapping": mapped.format(size=1024, flags="mmap.MAP_SHARED"),
            "tmpfs": "for f in ('/tmp/a', '/work/a', '/dev/shm/a'):\n"
                     "    with open(f, 'wb') as g:\n"
                     "        for _ in range(60): g.write(bytes(1 << 20)); g.flush()\n"
                     "import time; time.sleep(5)",
            "shm": "from multiprocessing import shared_memory as s\n"
                   "m = s.SharedMemory(create=True, size=60 << 20)\nm.buf[:] = bytes(60 << 20)\n"
                   "x = []\nwhile True: x.append(bytearray(1 << 20))",
        }.items():
            with self.subTest(name):
                result = document(code, "--memory", "128m")
                self.assertEqual(result["limits_hit"], ["memory"], result)
                self.assertLess(result["peak_memory_bytes"], LIMIT * 1.25)

    def test_many_processes_that_grow_are_ended(self):
        # Between two looks each may take what it can, so only the end is promised.
        result = document("import os\nfor _ in range(4): os.fork()\nx = []\n"
                          "while True: x.append(bytearray(1 << 20))")
        self.assertEqual(result["limits_hit"], ["memory"], result)

    def test_memory_beyond_every_bound_is_refused_at_once(self):
        self.assertEqual(document("x = bytearray(1 << 32)")["error_type"], "MemoryError")
        self.assertEqual(document("import os; os.memfd_create('x')")["error_type"],
                         "PermissionError")

    def test_a_sparse_file_costs_nothing(self):
        result = document("f = open('/tmp/a', 'wb'); f.truncate(60 << 20); print(1)")
        self.assertEqual(result["stdout"], "1\n")

    def test_a_fork_bomb_is_contained(self):
        code = """
import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(9)
        count += 1
except BlockingIOError:
    print(count < 100)
"""
        self.assertEqual(document(code)["stdout"], "True\n")

    def test_refusals_are_told(self):
        result = document("import ctypes; ctypes.CDLL(None).unshare(0x10000000)")
        self.assertEqual([(e["source"], e["operation"], e["target"])
                          for e in result["security_events"]],
                         [("interpreter", "ctypes.dlopen", "the program itself"),
                          ("kernel", "unshare", "user")])

    def test_nothing_is_left_behind(self):
        document("import os, time\nfor _ in range(3):\n    if os.fork() == 0: time.sleep(60)",
                 "--timeout", "1")
        left = subprocess.run(["pgrep", "-u", str(NOBODY), "glovebox"], capture_output=True,
                              text=True, check=False).stdout
        self.assertEqual(left, "")


if __name__ == "__main__":
    unittest.main()
