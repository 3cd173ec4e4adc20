"""`glovebox audit`: finds nothing in our box, finds the holes of other jails, leaves nothing."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

NOBODY = 65534
ROOT = pathlib.Path(__file__).parents[2]
IN_PROCESS = ROOT / "tests" / "end_to_end" / "in_process_server.py"
SRT = ROOT / "tests" / "node_modules" / "@anthropic-ai" / "sandbox-runtime" / "dist" / "cli.js"


def setUpModule():
    """Programs where nobody can reach them, whoever owns the build tree."""
    global FOLDER, GLOVEBOX
    FOLDER = tempfile.mkdtemp(prefix="glovebox-audit-test-")
    os.chmod(FOLDER, 0o755)
    built = os.path.dirname(os.environ["GLOVEBOX"])
    for name in ("glovebox", "glovebox-init", "glovebox-python"):
        shutil.copy(f"{built}/{name}", FOLDER)
    shutil.copy(IN_PROCESS, FOLDER)
    shutil.copy(IN_PROCESS.with_name("chroot.sh"), FOLDER)
    os.mkdir(f"{FOLDER}/root")
    GLOVEBOX = os.path.join(FOLDER, "glovebox")


def tearDownModule():
    shutil.rmtree(FOLDER)


def audit(*arguments, user=None):
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run([GLOVEBOX, "audit", *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=170, cwd=FOLDER, check=False,
                          **identity)


def document(*arguments, **options):
    ended = audit("--format", "json", "--quiet", *arguments, **options)
    try:
        found = json.loads(ended.stdout)
    except json.JSONDecodeError:
        raise AssertionError(f"exit {ended.returncode}: {ended.stdout}{ended.stderr}") from None
    found["exit_code"] = ended.returncode
    found["by_name"] = {probe["name"]: probe for probe in found["probes"]}
    return found


def traces():
    """What an audit could leave on this machine."""
    found = []
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"):
        if os.path.isdir(folder):
            found += [f"{folder}/{name}" for name in os.listdir(folder)
                      if "glovebox-audit" in name and "glovebox-audit-test-" not in name]
    for folder, _, _ in os.walk("/sys/fs/cgroup"):
        if "glovebox-cage" in folder:
            found.append(folder)
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        if "glovebox-audit" in line:
            found.append(line)
    return sorted(found)


def segments():
    return len(pathlib.Path("/proc/sysvipc/shm").read_text().splitlines())


def browse(folder, page, *options):
    return subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--user-data-dir={folder}/profile", "--host-resolver-rules=MAP * ~NOTFOUND", *options,
         f"file://{page}"], capture_output=True, text=True, timeout=60, check=True).stdout


def screenshot(folder, page, *options):
    """The colour of its first pixel: a PNG's filters leave that one as it is."""
    path = pathlib.Path(folder, "page.png")
    browse(folder, page, "--window-size=1200,900", f"--screenshot={path}", *options)
    data, compressed, at = path.read_bytes(), b"", 8
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            compressed += data[at + 8:at + 8 + length]
        at += 12 + length
    return zlib.decompress(compressed)[1:4]


# One of each kind of witness, and quick ones.
SOME = ("read_open", "read_listdir", "write_open", "write_create", "run_execve", "tcp_connect",
        "abstract_connect", "unix_connect", "see_processes", "signal_kill", "read_victim_environ",
        "ipc_shm_read", "inherited_file", "leak_environment", "leak_host_name", "leave_in_var_tmp",
        "unshare_user", "keyctl_session", "io_uring_ring", "environment_variables",
        "read_etc_passwd", "import_sys", "neighbour_file_past")
CHOICE = [word for name in SOME for word in ("--probe", name)]


class OurBox(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_root_every_probe_is_judged_and_nothing_forbidden_succeeds(self):
        before = traces(), segments()
        found = document("--no-attribution")
        self.assertEqual(found["weaknesses"], [])
        self.assertEqual(found["exit_code"], 0)
        self.assertGreaterEqual(len(found["probes"]), 100)
        self.assertGreater(found["figures"]["properly_isolated"], 200)
        self.assertEqual(found["figures"]["unexpected"], 0)
        self.assertEqual(found["by_name"]["import_ctypes"]["verdict"], "allowed_by_policy")
        self.assertEqual((traces(), segments()), before)

    def test_as_a_normal_user_nothing_forbidden_succeeds(self):
        found = document("--probe", "read_*", "--probe", "write_*", "--probe", "file_system_access",
                         "--probe", "network_access", "--probe", "sockets", "--probe", "leaks",
                         "--probe", "descriptors", "--probe", "neighbour_*_past",
                         user=NOBODY if os.geteuid() == 0 else None)
        self.assertEqual((found["weaknesses"], found["exit_code"]), ([], 0))
        self.assertIn("root", found["attribution"])
        self.assertGreater(found["figures"]["properly_isolated"], 60)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_walls_are_told_apart(self):
        found = document("--probe", "read_open", "--probe", "read_stat", "--probe", "tcp_connect",
                         "--probe", "sethostname", "--probe", "unshare_user")
        walls = {name: probe["walls"]["held_by_each_alone"]
                 for name, probe in found["by_name"].items()}
        self.assertEqual(walls["read_open"], ["root", "landlock"])
        self.assertEqual(walls["read_stat"], ["root"])
        self.assertEqual(walls["tcp_connect"], ["netns", "landlock", "seccomp"])
        # Too much for a host, so the cage is the control.
        self.assertEqual(found["by_name"]["sethostname"]["verdict"], "properly_isolated")
        self.assertFalse(found["by_name"]["sethostname"]["direct"]["ran"])
        self.assertEqual(sorted(found["held_by_one_wall"]), ["read_stat", "unshare_user"])
        self.assertIs(found["by_name"]["read_stat"]["walls"]["without"]["root"], False)
        self.assertIs(found["by_name"]["read_open"]["walls"]["without"]["root"], True)

    @unittest.skipUnless(os.geteuid() == 0 and (shutil.which("runsc") or shutil.which("crun")),
                         "needs root and a container runtime")
    def test_in_a_container(self):
        found = document("--target", "container", "--probe", "read_open", "--probe", "write_open",
                         "--probe", "tcp_connect", "--probe", "run_execve", "--probe",
                         "signal_kill")
        self.assertEqual((found["weaknesses"], found["exit_code"]), ([], 0))
        self.assertIn("in a container", found["target"])
        self.assertEqual(found["figures"]["properly_isolated"], 5)

    def test_the_language_layer_is_a_profile(self):
        found = document("--no-attribution", "--profile", "basic", "--probe", "import_*",
                         "--probe", "language")
        self.assertEqual(found["exit_code"], 0)
        self.assertEqual(found["by_name"]["import_ctypes"]["verdict"], "properly_isolated")


class OurJail(unittest.TestCase):
    """Servers may run programs, and have more room of their own than a snippet has."""

    def find(self, *arguments, **options):
        return document("--target-command", f"{GLOVEBOX} run --quiet --memory 96m --pids 32 --",
                        "--allow", "programs", "--allow", "disk_*", *arguments, **options)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_root_nothing_forbidden_succeeds(self):
        found = self.find()
        self.assertEqual((found["weaknesses"], found["exit_code"]), ([], 0))
        self.assertEqual(found["figures"]["unexpected"], 0)
        self.assertGreater(found["figures"]["properly_isolated"], 180)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_a_normal_user_nothing_forbidden_succeeds(self):
        found = self.find(*CHOICE, user=NOBODY)
        self.assertEqual((found["weaknesses"], found["exit_code"]), ([], 0))
        self.assertGreater(found["figures"]["properly_isolated"], 15)


class OtherJails(unittest.TestCase):
    """An auditor that finds nothing is broken."""

    def weaknesses(self, *arguments, expect):
        found = document(*arguments)
        self.assertEqual(found["exit_code"], 1, found["figures"])
        self.assertLessEqual(set(expect), set(found["weaknesses"]))
        return found

    def test_bubblewrap_with_the_whole_root(self):
        self.assertTrue(shutil.which("bwrap"), "dev/setup test installs bubblewrap")
        found = self.weaknesses("--target-command", "bwrap --ro-bind / / --", *CHOICE,
                                expect=["read_open", "leak_environment", "unix_connect",
                                        "inherited_file"])
        self.assertEqual(found["by_name"]["write_open"]["verdict"], "properly_isolated")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_chroot(self):
        found = self.weaknesses("--target-command", f"unshare -m {FOLDER}/chroot.sh {FOLDER}/root",
                                *CHOICE, expect=["signal_kill", "tcp_connect", "inherited_file",
                                                 "see_processes", "abstract_connect"])
        self.assertEqual(found["by_name"]["read_open"]["verdict"], "properly_isolated")

    def test_a_user_namespace_alone(self):
        self.weaknesses("--target-command", "unshare -r", *CHOICE,
                        expect=["read_open", "tcp_connect", "see_processes"])

    def test_a_sandbox_in_the_interpreter(self):
        """Refuses imports and names with underscores, like RestrictedPython; so does not hold."""
        found = self.weaknesses("--mcp", f"{sys.executable} -B {FOLDER}/in_process_server.py",
                                "--probe", "language", "--probe", "read_open", "--probe",
                                "neighbour_interpreter_past", expect=["language_generator_frame"])
        self.assertIn("in-process", found["target"])
        self.assertEqual(found["by_name"]["read_open"]["verdict"], "properly_isolated")
        self.assertEqual(found["by_name"]["language_subclasses"]["verdict"], "properly_isolated")

    @unittest.skipUnless(SRT.exists(), "needs tests/node_modules")
    def test_srt_with_its_defaults(self):
        node = ROOT / "tests" / "node"
        self.weaknesses("--target-command", f"{node} {SRT}", "--probe", "read_open", "--probe",
                        "write_open", "--probe", "leak_environment", "--probe", "tcp_connect",
                        "--probe", "inherited_file", expect=["read_open", "leak_environment"])

    def test_a_jail_that_never_ends_proves_nothing(self):
        found = document("--target-command", "sh -c 'exec sleep 60'", "--probe", "read_open")
        self.assertEqual(found["exit_code"], 125)
        self.assertEqual(found["by_name"]["read_open"]["verdict"], "untestable")

    def test_a_jail_that_does_not_start_proves_nothing(self):
        ended = audit("--quiet", "--target-command", "no-such-jail --", "--probe", "read_open")
        self.assertEqual(ended.returncode, 125)
        self.assertIn("nothing was shown", ended.stderr)

    def test_what_a_jail_is_meant_to_allow_is_no_weakness(self):
        found = document("--target-command", "env", "--probe", "read_open", "--probe", "run_execve",
                         "--probe", "write_chmod", "--allow", "read_*", "--allow", "programs",
                         "--allow", "file_writes")
        self.assertEqual((found["exit_code"], found["figures"]["allowed_by_policy"]), (125, 3))


class ThroughMcp(unittest.TestCase):
    def test_our_own_server_over_stdio(self):
        found = document("--mcp", f"{GLOVEBOX} serve --env-file '' --config ''",
                         "--arguments", '{"profile": "full"}', *CHOICE)
        self.assertEqual((found["weaknesses"], found["exit_code"]), ([], 0))
        self.assertIn("execute_code", found["target"])
        self.assertGreater(found["figures"]["properly_isolated"], 18)

    def test_our_own_server_over_http(self):
        token = "0123456789abcdef0123456789abcdef"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            [GLOVEBOX, "serve", "--env-file", "", "--config", "", "--transport", "http", "--port",
             str(port), "--rate", "1000"], env={**os.environ, "SANDBOX_API_TOKEN": token},
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            found = document("--mcp-url", f"http://127.0.0.1:{port}/mcp", "--mcp-token", token,
                             "--probe", "read_open", "--probe", "write_open")
            self.assertEqual((found["exit_code"], found["figures"]["properly_isolated"]), (0, 2))
        finally:
            server.terminate()
            server.wait()

    def test_another_tool_of_it(self):
        found = document("--mcp", f"{GLOVEBOX} serve --env-file '' --config ''", "--tool",
                         "run_python_code", "--probe", "read_open", "--probe", "write_open")
        self.assertEqual(found["exit_code"], 0)
        self.assertEqual(found["figures"]["properly_isolated"], 2)


class Reports(unittest.TestCase):
    def test_files_and_formats(self):
        with tempfile.TemporaryDirectory(prefix="glovebox-audit-test-") as folder:
            ended = audit("--no-attribution", "--results", folder, "--probe", "file_system_access",
                          "--probe", "system_resources")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("isolation_report.md", ended.stderr)
            direct = json.loads(pathlib.Path(folder, "file_access_results.json").read_text())
            mcp = json.loads(pathlib.Path(folder, "file_access_results_mcp.json").read_text())
            self.assertEqual(direct["test_name"], "file_system_access")
            self.assertEqual((direct["environment"], mcp["environment"]),
                             ("direct_execution", "mcp_sandbox"))
            self.assertTrue(direct["tests"]["read_etc_passwd"]["success"])
            self.assertFalse(mcp["tests"]["write_to_tmp"]["success"])
            report = pathlib.Path(folder, "isolation_report.md").read_text()
            self.assertIn("| Test | Direct Execution | MCP Sandbox | Isolation Status |", report)
            suites = ElementTree.parse(f"{folder}/isolation_report.xml").getroot()
            self.assertEqual(suites.get("failures"), "0")
            sarif = json.loads(pathlib.Path(folder, "isolation_report.sarif").read_text())
            self.assertEqual(sarif["version"], "2.1.0")
            page = pathlib.Path(folder, "isolation_report.html").read_text()
            for outside in ("http:", "https:", "<script", "src=", "@import", "url("):
                self.assertNotIn(outside, page)

    @unittest.skipUnless(shutil.which("chromium"), "dev/setup test installs chromium")
    def test_the_page_in_a_browser(self):
        """Light and dark as the reader wants it, on paper, and nothing fetched."""
        with tempfile.TemporaryDirectory(prefix="glovebox-audit-test-") as folder:
            page = f"{folder}/page.html"
            audit("--no-attribution", "--quiet", "--probe", "file_system_access", "--format",
                  "html", "--out", page)
            light = screenshot(folder, page, "--blink-settings=preferredColorScheme=1")
            dark = screenshot(folder, page, "--blink-settings=preferredColorScheme=0")
            self.assertEqual((light, dark), (b"\xff\xff\xff", b"\x12\x16\x1a"))
            browse(folder, page, f"--print-to-pdf={folder}/page.pdf")
            self.assertEqual(pathlib.Path(folder, "page.pdf").read_bytes()[:5], b"%PDF-")
            self.assertIn("read_etc_passwd", browse(folder, page, "--dump-dom"))

    def test_the_baseline(self):
        with tempfile.TemporaryDirectory(prefix="glovebox-audit-test-") as folder:
            base = f"{folder}/base.json"
            few = ("--no-attribution", "--probe", "read_open", "--probe", "read_mmap")
            self.assertEqual(audit(*few, "--format", "json", "--out", base).returncode, 0)
            self.assertEqual(audit(*few, "--baseline", base).returncode, 0)
            fewer = audit(*few[:3], "--baseline", base)
            self.assertEqual(fewer.returncode, 3)
            self.assertIn("worse: read_mmap", fewer.stderr)

    def test_usage(self):
        self.assertEqual(audit("--probe", "no_such_probe").returncode, 2)
        self.assertEqual(audit("--mcp", "a", "--mcp-url", "b").returncode, 2)
        self.assertEqual(audit("--profile", "no_such").returncode, 2)
        self.assertGreaterEqual(len(audit("--list").stdout.splitlines()), 121)


if __name__ == "__main__":
    unittest.main()
