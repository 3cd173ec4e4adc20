#!/usr/bin/python3
"""`glovebox run --container`: programs of others in OCI containers, under each runtime.

GLOVEBOX names the program. What is kept of a policy, what is refused, exit codes, and that nothing
is left. Needs root.
"""

import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GLOVEBOX = os.environ["GLOVEBOX"]
STATE = "/run/glovebox-containers"
SERVER = str(pathlib.Path(__file__).with_name("stdlib_server.py"))
FILESYSTEM = str(pathlib.Path(__file__).parents[1] / "node_modules/@modelcontextprotocol"
                 / "server-filesystem/dist/index.js")
NODE = glob.glob(str(pathlib.Path(__file__).parents[1] / "node_modules/node-linux-*/bin/node"))[0]
OWNER = 4321
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/root"}


INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number, tool, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}


def run(*words, text=None, env=None, **options):
    return subprocess.run([GLOVEBOX, "run", *words], input=text, capture_output=True, text=True,
                          timeout=90, check=False, env=env or ENVIRONMENT, **options)


def leftovers():
    """Notes of containers, and processes that know them."""
    found = glob.glob(STATE + "/*")
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            line = pathlib.Path(path).read_bytes()
        except OSError:
            continue
        if STATE.encode() in line:
            found.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return set(found)


def python(code):
    return ("/usr/bin/python3", "-I", "-c", code)


class Runtime:
    """The same of every runtime."""
    runtime = None

    def run_in_container(self, *words, **options):
        return run("--container=" + self.runtime, *words, **options)

    def setUp(self):
        self.before = leftovers()
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.folder)], check=False)
        for name in ("in", "out", "in/.ssh"):
            (self.folder / name).mkdir()
        (self.folder / "in/secret").write_text("granted\n")
        os.chown(self.folder / "out", OWNER, OWNER)
        (self.folder / "out").chmod(0o700)
        for path in (self.folder, self.folder / "in"):
            path.chmod(0o755)

    def tearDown(self):
        self.assertEqual(leftovers() - self.before, set())

    def test_streams_exit_codes_and_environment(self):
        result = self.run_in_container("--env", "MARK=5", "--", "sh", "-c",
                                       "cat; echo $MARK $HOME; echo err >&2; exit 7", text="in\n")
        self.assertEqual((result.returncode, result.stdout), (7, "in\n5 /home/box\n"), result)
        self.assertIn(self.runtime, result.stderr.splitlines()[0])
        self.assertTrue(result.stderr.endswith("err\n"), result.stderr)
        self.assertEqual(self.run_in_container("--quiet", "--", "true").stderr, "")

    def test_large_output_is_complete(self):
        size = 5_000_000
        result = self.run_in_container("--", "head", "-c", str(size), "/dev/zero")
        self.assertEqual(len(result.stdout), size, result.stderr)

    def test_grants(self):
        inside, out = self.folder / "in", self.folder / "out"
        result = self.run_in_container(
            "--read", str(inside), "--write", str(out), "--",
            *python(f"""
import os
print(open('{inside}/secret').read().strip(), sorted(os.listdir('{self.folder}')))
open('{out}/new', 'w').write('made')
for path in ('{inside}/new', '/usr/new', '/etc/new', '/new'):
    try:
        open(path, 'w')
        print('wrote', path)
    except OSError:
        pass
open('/tmp/mine', 'w').write('#!/bin/sh\\necho run from tmp\\n')
os.chmod('/tmp/mine', 0o755)
os.chmod('{out}/new', 0o755)
print(os.popen('/tmp/mine').read().strip())
try:
    os.execv('{out}/new', ['x'])
except PermissionError:
    print('what can be written cannot be executed')
"""))
        self.assertEqual(result.stdout, "granted ['in', 'out']\nrun from tmp\n"
                                        "what can be written cannot be executed\n", result.stderr)
        self.assertEqual((out / "new").read_text(), "made")
        self.assertEqual((out / "new").stat().st_uid, OWNER)
        self.assertFalse((inside / "new").exists())

    def test_a_deeper_rule_decides_and_sensitive_paths_are_covered(self):
        home = self.folder / "in"
        (home / ".ssh/id").write_text("key")
        (home / "deep").mkdir()
        os.chown(home / "deep", OWNER, OWNER)
        code = f"""
import os
for path in ('{home}/secret', '{home}/.ssh/id'):
    try:
        print(open(path).read().strip())
    except OSError as error:
        print(type(error).__name__)
open('{home}/deep/x', 'w').write('deeper')
"""
        result = self.run_in_container("--read", str(home), "--write", str(home / "deep"), "--",
                                       *python(code), env={**ENVIRONMENT, "HOME": str(home)})
        self.assertEqual(result.stdout, "granted\nPermissionError\n", result.stderr)
        self.assertEqual((home / "deep/x").read_text(), "deeper")

    def test_who_it_is_and_what_it_reaches(self):
        result = self.run_in_container("--", *python("""
import os, socket
lines = dict(line.split(':\\t') for line in open('/proc/self/status') if ':\\t' in line)
print(os.getuid() != 0, lines['CapEff'].strip(), lines['CapBnd'].strip())
print([path for path in ('/root', '/var', '/etc/shadow', '/etc/hostname') if os.path.exists(path)])
try:
    socket.create_connection(('127.0.0.1', 22), 1)
except OSError:
    print('no network')
try:
    os.setuid(0)
except OSError:
    print('not root')
"""))
        none = "0" * 16
        self.assertEqual(result.stdout, f"True {none} {none}\n[]\nno network\nnot root\n",
                         result.stderr)

    def test_memory(self):
        result = self.run_in_container("--memory", "64m", "--", *python(
            "data = []\nwhile True:\n    data.append(bytearray(1 << 20))"))
        self.assertEqual(result.returncode, 137, result)
        self.assertIn("raise it with --memory", result.stderr)

    def test_processes(self):
        result = self.run_in_container("--pids", "8", "--timeout", "20s", "--", *python("""
import os, time
count = 0
try:
    while count < 500:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        count += 1
except OSError:
    print('refused', count < 200, flush=True)
    os._exit(3)
"""))
        # gVisor ends when it can have no further thread; the others refuse.
        self.assertNotEqual(result.returncode, 0)
        if self.runtime != "runsc":
            self.assertEqual(result.stdout, "refused True\n", result.stderr)

    def test_timeout(self):
        start = time.monotonic()
        result = self.run_in_container("--timeout", "1s", "--", "sleep", "60")
        self.assertEqual(result.returncode, 124, result)
        self.assertIn("(--timeout)", result.stderr)
        self.assertLess(time.monotonic() - start, 20)

    def test_signals_and_sigkill_leave_nothing(self):
        for ending in (signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen([GLOVEBOX, "run", "--container=" + self.runtime, "--",
                                   *python("import time; print('up', flush=True); time.sleep(99)")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT) as process:
                self.assertEqual(process.stdout.readline(), "up\n")
                process.send_signal(ending)
                process.wait(20)
            deadline = time.monotonic() + 15
            while leftovers() - self.before and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(leftovers() - self.before, set(), ending)

    def ask(self, requests, *words):
        """The answers of a server, by id; its input stays open until it has given them."""
        with subprocess.Popen([GLOVEBOX, "run", "--container=" + self.runtime, *words],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT) as process:
            answers = {}
            for request in requests:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                if "id" in request:
                    answer = json.loads(process.stdout.readline())
                    answers[answer["id"]] = answer
            process.stdin.close()
            process.wait(30)
        return answers

    def test_an_mcp_server(self):
        answers = self.ask([INITIALIZE, INITIALIZED, call(2, "read", path="/etc/shadow"),
                            call(3, "read", path=str(self.folder / "in/secret"))],
                           "--read", str(self.folder / "in"), "--", "/usr/bin/python3", SERVER)
        self.assertIn("serverInfo", answers[1]["result"], answers)
        self.assertTrue(answers[2]["result"]["isError"], answers)
        self.assertEqual(answers[3]["result"]["content"][0]["text"], "granted\n", answers)

    def test_a_server_of_others(self):
        out = self.folder / "out"
        answers = self.ask([INITIALIZE, INITIALIZED,
                            call(2, "write_file", path=str(out / "made"), content="by Node"),
                            call(3, "read_text_file", path="/etc/shadow")],
                           "--policy", "filesystem", "--", NODE, FILESYSTEM, str(out))
        self.assertNotIn("isError", answers[2]["result"], answers)
        self.assertEqual((out / "made").read_text(), "by Node")
        self.assertEqual((out / "made").stat().st_uid, OWNER)
        self.assertTrue(answers[3]["result"]["isError"], answers)


class UnderGVisor(Runtime, unittest.TestCase):
    runtime = "runsc"

    def test_the_kernel_is_not_the_hosts(self):
        result = self.run_in_container("--", *python("import os; print(os.uname().release)"))
        self.assertNotEqual(result.stdout.strip(), os.uname().release)


class UnderCrun(Runtime, unittest.TestCase):
    runtime = "crun"


class UnderPodman(Runtime, unittest.TestCase):
    runtime = "podman"


class UnderRunc(Runtime, unittest.TestCase):
    runtime = "runc"

    def test_namespaces_are_refused(self):
        result = self.run_in_container("--", "unshare", "--user", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("Operation not permitted", result.stderr)


class Refusals(unittest.TestCase):
    def refusal(self, code, *words, **options):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            mark = pathlib.Path(folder) / "mark"
            result = run(*words, "--", "touch", str(mark), **options)
            self.assertFalse(mark.exists())
        self.assertEqual(result.returncode, code, result)
        return result.stderr

    def test_a_way_out(self):
        self.assertIn("--net cannot be kept with --container",
                      self.refusal(2, "--container", "--net", "example.org"))

    def test_writing_to_what_is_roots(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            said = self.refusal(2, "--container", "--write", folder)
        self.assertIn(f"{folder} belongs to root, and a program in a container is never root", said)

    def test_reading_what_its_user_may_not(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # 0700, root's
            said = self.refusal(2, "--container", "--read", folder)
        self.assertIn(f"the permissions of {folder} do not let user", said)

    def test_runtimes(self):
        self.assertIn("lxc not in", self.refusal(2, "--container=lxc"))
        self.assertIn("SANDBOX_CONTAINER_RUNTIME is 'lxc'", self.refusal(
            2, "--container", env={**ENVIRONMENT, "SANDBOX_CONTAINER_RUNTIME": "lxc"}))

    def test_docker_would_have_the_limits_in_its_hands(self):
        said = self.refusal(125, "--container=docker")
        self.assertIn("Container runtime not available: ", said)
        self.assertIn("podman, or the runc that docker brought along", said)

    def test_no_runtime_is_no_program(self):
        hide = ("for p in /usr/bin/runsc /usr/bin/crun /usr/sbin/runc /usr/bin/podman; do "
                "mount --bind /dev/null $p; done; exec \"$@\"")
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", hide, "sh", GLOVEBOX, "run", "--container", "--",
             "echo", "ran"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
        self.assertEqual((result.returncode, result.stdout), (125, ""), result)
        self.assertIn("Container runtime not available: ", result.stderr)

    def test_a_normal_user(self):
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", GLOVEBOX, "run",
             "--container", "--", "echo", "ran"], capture_output=True, text=True, check=False,
            env=ENVIRONMENT)
        self.assertEqual((result.returncode, result.stdout), (125, ""), result)
        self.assertIn("--container needs root and a cgroup", result.stderr)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("containers need root: skipped")
        sys.exit(1 if os.environ.get("GLOVEBOX_MUST_ISOLATE") else 0)
    unittest.main()
