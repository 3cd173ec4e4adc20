"""The container tier through `glovebox serve`: the same call, held by an OCI runtime besides. What
hostile code can do there is the subject of tests/isolation, ordinary programs that of
tests/snippets; this is about statuses, limits, refusals, and what is left behind.
"""
import glob
import os
import pathlib
import sys
import tempfile
import time
import unittest

import docker_daemon
from http_server import GLOVEBOX, SOURCES, environment

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

STATE = "/run/glovebox-containers"
KILLS = 20
ENABLED = {"SANDBOX_ENABLE_CONTAINER_MODE": "true", "SANDBOX_ENABLE_FULL": "true"}


def without(*programs):
    """The front of a command that is run where these are not installed."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
    places = {os.path.join(folder, program) for folder in path.split(":") for program in programs}
    hide = "".join(f"mount --bind /dev/null {place}; "
                   for place in sorted(places) if os.path.exists(place))
    return ["unshare", "--mount", "sh", "-c", hide + 'exec "$@"', "sh"]


def server_for(**settings):
    values = {**ENABLED, **settings}
    server = StdioServer([GLOVEBOX, "serve", *SOURCES], {**environment(), **values})
    server.ask("initialize", INITIALIZE)
    return server


def execute(server, code, **arguments):
    arguments = {"code": code, "use_container": True, "profile": "full", "timeout": 30, **arguments}
    answer = server.ask("tools/call", {"name": "execute_code", "arguments": arguments})
    return answer["structuredContent"]


def processes():
    """Command lines of every runtime's processes, whoever started them."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = pathlib.Path(path).read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(STATE.encode()) for word in words):
            found.append(b" ".join(words).decode(errors="replace"))
    return found


def leftovers():
    """What containers could leave on the host, by name."""
    mounts = [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
              if STATE in line]
    groups = [path for path in glob.glob("/sys/fs/cgroup/**/*glovebox*", recursive=True)
              if os.path.isdir(path) and "cage" not in path and not used(path)]
    return [*processes(), *mounts, *groups, *glob.glob(STATE + "/*")]


def used(group):
    """Whether another server lives in this branch: tests may run beside each other."""
    return any(pathlib.Path(path).read_text().strip()
               for path in glob.glob(group + "/**/cgroup.procs", recursive=True))


class Runtime:
    """The same questions to every runtime."""
    runtime = None
    sees = "[] 1000"  # what of the host, and who it is

    @classmethod
    def setUpClass(cls):
        cls.server = server_for(SANDBOX_CONTAINER_RUNTIME=cls.runtime)

        cls.addClassCleanup(cls.server.__exit__)

    def test_a_program_and_its_result(self):
        answer = execute(self.server, "print(2 + 2)\nresult = {'a': [1, 2.5, None]}")
        self.assertEqual(answer["status"], "completed", answer)
        self.assertEqual(answer["stdout"], "4\n")
        self.assertEqual(answer["result"], {"a": [1, 2.5, None]})
        self.assertIn(self.runtime, answer["container"])

    def test_what_a_container_cannot_tell_is_said(self):
        answer = execute(self.server, "1")
        self.assertTrue(any(wall.startswith("kernel events:") for wall in answer["missing_walls"]))

    def test_errors_and_exits(self):
        answer = execute(self.server, "def f():\n    1 / 0\nf()")
        self.assertEqual((answer["status"], answer["error_type"], answer["error_line"]),
                         ("failed", "ZeroDivisionError", 2))
        answer = execute(self.server, "import sys; print('x'); sys.exit(3)")
        self.assertEqual((answer["status"], answer["exit_code"]), ("failed", 3))
        answer = execute(self.server, "import os; os.abort()")
        self.assertEqual((answer["status"], answer.get("signal")), ("failed", 6))
        answer = execute(self.server, "import os; os._exit(7)")
        self.assertEqual((answer["status"], answer["exit_code"]), ("failed", 7))

    def test_input_variables_and_streams(self):
        answer = execute(self.server, "import sys; print(input(), n, file=sys.stderr)",
                         stdin="a line\n", global_variables={"n": 5})
        self.assertEqual((answer["stderr"], answer["stdout"]), ("a line 5\n", ""))

    def test_each_call_is_fresh(self):
        write = "import builtins; builtins.leak = 1; open('/tmp/leak', 'w').write('x')"
        self.assertEqual(execute(self.server, write)["status"], "completed")
        answer = execute(self.server, "import builtins, os\n"
                                      "print(hasattr(builtins, 'leak'), os.listdir('/tmp'))")
        self.assertEqual(answer["stdout"], "False []\n")

    def test_the_language_layer(self):
        answer = execute(self.server, "import os", profile="basic")
        self.assertEqual(answer["status"], "violated", answer)

    def test_a_timeout_kills_the_container(self):
        before = time.monotonic()
        answer = execute(self.server, "print('begun', flush=True)\nwhile True: pass", timeout=1)
        self.assertEqual((answer["status"], answer["stdout"]), ("timed_out", "begun\n"))
        self.assertLess(time.monotonic() - before, 10)

    def test_memory(self):
        answer = execute(self.server, "x = []\nwhile True: x.append(bytearray(1 << 20))",
                         memory_limit="64m")
        self.assertEqual(answer["status"], "limit_exceeded", answer)
        self.assertIn("memory", answer["limits_hit"])

    def test_processes(self):
        answer = execute(self.server, "import os\nwhile True:\n    os.fork()", timeout=5)
        if self.runtime == "runsc":  # its kernel ends when it can have no further thread
            self.assertEqual(answer["status"], "limit_exceeded", answer)
        self.assertIn("pids", answer["limits_hit"], answer)
        after = execute(self.server, "print('alive')")
        self.assertEqual(after["stdout"], "alive\n", after)

    def test_output(self):
        answer = execute(self.server, "while True: print('x' * 65536)")
        self.assertEqual(answer["status"], "limit_exceeded", answer)
        self.assertEqual(answer["limits_hit"], ["output"])

    def test_nothing_of_the_host(self):
        answer = execute(self.server, """
import os, socket
seen = []
for path in ('/etc/shadow', '/root', '/etc/hostname', '/var', '/home', '/etc/debian_version'):
    if os.path.exists(path):
        seen.append(path)
try:
    socket.create_connection(('127.0.0.1', 22), 1)
    seen.append('network')
except OSError:
    pass
try:
    os.execv('/usr/bin/true', ['true'])
except OSError:
    pass
print(seen, os.getuid() if os.getuid() == 1000 else 'unknown', os.getpid() > 1)
""")
        self.assertEqual(answer["stdout"], self.sees + " True\n", answer)

    def test_it_is_told_what_it_is(self):
        answer = self.server.ask("tools/call", {"name": "get_sandbox_info", "arguments": {}})
        mode = answer["structuredContent"]["container_mode"]
        self.assertTrue(mode["available"] and mode["enabled"])
        self.assertIn(self.runtime, mode["runtime"])
        self.assertGreater(mode["warm_containers"], 0)


class UnderGVisor(Runtime, unittest.TestCase):
    runtime = "runsc"

    def test_the_kernel_is_not_the_hosts(self):
        answer = execute(self.server, "import os; print(os.uname().release)")
        self.assertNotEqual(answer["stdout"].strip(), os.uname().release)


class UnderRunc(Runtime, unittest.TestCase):
    runtime = "runc"


class UnderCrun(Runtime, unittest.TestCase):
    runtime = "crun"


class UnderPodman(Runtime, unittest.TestCase):
    runtime = "podman"


class UnderDocker(Runtime, unittest.TestCase):
    runtime = "docker"
    sees = "['/etc/hostname'] unknown"  # a file of docker's own; a user who is nobody on the host

    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(docker_daemon.daemon())
        super().setUpClass()
        cls.own = os.path.basename(glob.glob(STATE + "/*")[0])

    def test_the_hosts_devices_and_groups_are_out_of_sight(self):
        answer = execute(self.server, """
import os
for path in ('/sys', '/wire', '/dev/mqueue'):
    try:
        print(os.listdir(path))
    except OSError as error:
        print(type(error).__name__)
""")
        self.assertNotIn("cgroup", answer["stdout"], answer)
        self.assertNotIn("socket", answer["stdout"], answer)

    def test_what_docker_cannot_give_is_said(self):
        answer = execute(self.server, "1")
        self.assertTrue(any(wall.startswith("user namespace:")
                            for wall in answer["missing_walls"]), answer)

    def test_a_folder_to_be_written_is_refused(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o777)
            with server_for(SANDBOX_CONTAINER_RUNTIME="docker",
                            SANDBOX_ENABLE_FILESYSTEM="true",
                            SANDBOX_WRITE_PATHS=folder) as server:
                answer = execute(server, "print(1)")
        self.assertEqual(answer["status"], "setup_failed", answer)
        self.assertIn(f"docker cannot keep what is written in {folder} from being executed",
                      answer["error"])

    def test_where_nothing_else_works_it_is_taken(self):
        with StdioServer([*without("runsc", "crun", "runc", "podman"), GLOVEBOX, "serve",
                          *SOURCES], {**environment(), **ENABLED}) as server:
            server.ask("initialize", INITIALIZE)
            self.assertEqual(execute(server, "print(1)")["container"], "docker")

    def test_a_daemon_out_of_sight_is_refused(self):
        apart = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        with StdioServer([*apart, GLOVEBOX, "serve", *SOURCES],
                         {**environment(), **ENABLED, "SANDBOX_CONTAINER_RUNTIME": "docker"}
                         ) as server:
            server.ask("initialize", INITIALIZE)
            answer = execute(server, "print(1)")
        self.assertEqual(answer["status"], "setup_failed", answer)
        self.assertIn("its daemon is outside of our PID namespace", answer["error"])

    def test_killed_servers_leave_nothing(self):
        before = set(leftovers())
        for delay in (0.2, 0.5, 0.9):
            victim = server_for(SANDBOX_CONTAINER_RUNTIME="docker")
            victim.send("tools/call", {"name": "execute_code", "arguments": {
                "code": "while True: pass", "use_container": True, "profile": "full"}})
            time.sleep(delay)
            victim.kill()
        with server_for(SANDBOX_CONTAINER_RUNTIME="docker") as last:
            self.assertEqual(execute(last, "print(1)")["stdout"], "1\n")
        deadline = time.monotonic() + 10
        while self.strangers() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.strangers(), [])
        self.assertEqual({line for line in set(leftovers()) - before if self.own not in line},
                         set())

    def strangers(self):
        """Containers and images of servers other than ours."""
        label = "--filter=label=io.glovebox.server"
        names = (docker_daemon.docker("ps", "--all", label, "--format={{.Names}}")
                 + docker_daemon.docker("image", "ls", label, "--format={{.Tag}}"))
        return [name for name in names if self.own not in name]


class Refusals(unittest.TestCase):
    def refusal(self, **settings):
        with server_for(**settings) as server:
            answer = execute(server, "print(1)")
            plain = execute(server, "print(1)", use_container=False)
        self.assertEqual(answer["status"], "setup_failed", answer)
        self.assertEqual(answer["stdout"], "")
        self.assertTrue(answer["error"].startswith("Container runtime not available: "), answer)
        self.assertEqual(plain["stdout"], "1\n", "a box needs no container")
        return answer["error"]

    def test_a_tier_that_is_off_names_its_setting(self):
        error = self.refusal(SANDBOX_ENABLE_CONTAINER_MODE="false")
        self.assertIn("SANDBOX_ENABLE_CONTAINER_MODE=true", error)

    def test_an_image_that_is_not_there(self):
        error = self.refusal(SANDBOX_CONTAINER_IMAGE="python-sandbox:latest")
        self.assertIn("make build-sandbox", error)

    def test_no_runtime(self):
        with StdioServer([*without("runsc", "crun", "runc", "podman", "docker"), GLOVEBOX, "serve",
                          *SOURCES], {**environment(), **ENABLED}) as server:
            server.ask("initialize", INITIALIZE)
            error = execute(server, "print(1)")["error"]
        self.assertTrue(error.startswith("Container runtime not available: "), error)
        self.assertIn("the Debian package runsc", error)


class AfterSigkill(unittest.TestCase):
    def test_the_next_start_leaves_nothing(self):
        before = set(leftovers())
        for number in range(KILLS):
            runtime = ("runsc", "podman", "runc", "crun")[number % 4]
            victim = server_for(SANDBOX_CONTAINER_RUNTIME=runtime)
            victim.send("tools/call", {"name": "execute_code", "arguments": {
                "code": "while True: pass", "use_container": True, "profile": "full"}})
            time.sleep(0.05 + 0.07 * (number % 10))  # while it starts, waits, runs
            victim.kill()
        with server_for() as last:
            self.assertEqual(execute(last, "print(1)")["stdout"], "1\n")
            alive = processes()
            own = [path for path in glob.glob(STATE + "/*")]
            self.assertEqual(len(own), 1, own)
            self.assertTrue(all(own[0] in line for line in alive), alive)
        deadline = time.monotonic() + 10
        while set(leftovers()) - before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(set(leftovers()) - before, set())


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("containers need root: skipped")
        sys.exit(1 if os.environ.get("GLOVEBOX_MUST_ISOLATE") else 0)
    unittest.main()
