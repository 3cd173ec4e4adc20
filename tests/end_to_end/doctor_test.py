"""`glovebox doctor`: as root, as a normal user, and with walls taken away."""
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

NOBODY = 65534
WALLS = {"identity", "root", "pid namespace", "net namespace", "ipc namespace", "landlock",
         "seccomp", "events", "rlimits", "interpreter"}
CONFINE = pathlib.Path(__file__).with_name("confine.py")
CONFINEMENTS = CONFINE.with_name("confinements.toml")


def setUpModule():
    """Programs where nobody can reach them, whoever owns the build tree."""
    global FOLDER, GLOVEBOX
    FOLDER = tempfile.mkdtemp(prefix="glovebox-doctor-")
    os.chmod(FOLDER, 0o755)
    built = os.path.dirname(os.environ["GLOVEBOX"])
    for source in (f"{built}/glovebox", f"{built}/glovebox-init", f"{built}/glovebox-python",
                   CONFINE, CONFINEMENTS):
        shutil.copy(source, FOLDER)
    GLOVEBOX = os.path.join(FOLDER, "glovebox")


def tearDownModule():
    shutil.rmtree(FOLDER)


def run(*arguments, under=None, user=None, prefix=()):
    """doctor, `under` a filter of confinements.toml, as `user`."""
    command = [*prefix, GLOVEBOX, "doctor", *arguments]
    if under is not None:
        command = [sys.executable, "-B", f"{FOLDER}/confine.py", under, *command]
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, cwd="/", check=False, **identity)


def document(**options):
    ended = run("--json", **options)
    found = json.loads(ended.stdout)
    found["returncode"] = ended.returncode
    found["by_name"] = {wall["name"]: wall for wall in found["walls"]}
    return found


class Healthy(unittest.TestCase):
    def check(self, found, tier):
        fallen = [wall for wall in found["walls"] if not wall["stands"]]
        self.assertEqual(fallen, [])
        self.assertEqual((found["returncode"], found["exit_code"], found["strength"]),
                         (0, 0, "full"), found["verdict"])
        self.assertLessEqual(WALLS, set(found["by_name"]))
        self.assertEqual(found["limits_tier"], tier)
        self.assertEqual((found["box"]["ran"], found["box"]["output"]), (True, "4"))
        self.assertGreater(found["box"]["run_seconds"], 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_root(self):
        found = document()
        self.check(found, "cgroup")
        self.assertEqual(found["user"], "root")
        self.assertTrue(found["by_name"]["cgroup"]["stands"])

    def test_as_a_normal_user(self):
        found = document(user=NOBODY if os.geteuid() == 0 else None)
        self.check(found, "supervisor")
        self.assertIn("uid", found["user"])

    def test_what_it_tells_of_the_host(self):
        found = document()
        release = os.uname().release
        self.assertEqual(found["kernel"], f"Linux {release} {os.uname().machine}")
        self.assertEqual(found["landlock"]["lacks"] == [], found["landlock"]["abi"] >= 6)
        self.assertIn(found["cgroups"]["layout"], ("v1", "v2", "hybrid", "none"))
        version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, text=True,
                                 check=True).stdout.split()[1]
        self.assertEqual((found["python"]["path"], found["python"]["version"]),
                         ("/usr/bin/python3", version))
        self.assertIsNone(found["python"]["reason"])
        for runtime in found["runtimes"]:
            self.assertEqual(runtime["path"], shutil.which(runtime["name"]))

    def test_packages_with_the_names_that_install_them(self):
        packages = {one["module"]: one for one in document()["packages"]}
        self.assertEqual(packages["sklearn"]["debian"], "python3-sklearn")
        for module, package in packages.items():
            listed = subprocess.run(
                ["/usr/bin/python3", "-I", "-c", "import importlib.util, sys; sys.exit("
                 f"importlib.util.find_spec({module!r}) is None)"], check=False)
            self.assertEqual(package["installed"], listed.returncode == 0, package)

    def test_it_is_quick_and_leaves_nothing(self):
        def leftovers():
            return sorted(str(path) for path in pathlib.Path("/sys/fs/cgroup").glob("**/glovebox*"))
        before = leftovers()
        start = time.monotonic()
        run()
        self.assertLess(time.monotonic() - start, 10, "about 2 s on a quiet machine")
        self.assertEqual(leftovers(), before)


class Looks(unittest.TestCase):
    def test_piped_it_is_plain(self):
        text = run().stdout
        self.assertNotIn("\x1b", text)
        self.assertTrue(text.isascii())
        self.assertRegex(text, r"\n ok landlock +file and TCP rules")
        self.assertTrue(text.endswith("\nglovebox serve runs here at full strength\n"), text)

    def on_a_terminal(self, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 70, 0, 0))
        process = subprocess.Popen([GLOVEBOX, "doctor"], stdin=subprocess.DEVNULL, stdout=theirs,
                                   env={"PATH": os.environ["PATH"], **environment})
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return text.decode()

    def test_on_a_terminal_it_has_colour_and_fits(self):
        text = self.on_a_terminal(TERM="xterm", LANG="C.UTF-8")
        self.assertIn("\x1b[32m\N{HEAVY CHECK MARK}\x1b[0m landlock", text)
        for line in re.sub("\x1b\\[[0-9;]*m", "", text).splitlines():
            if "  fix  " not in line:
                self.assertLessEqual(len(line), 70, line)

    def test_no_color_is_respected(self):
        text = self.on_a_terminal(TERM="xterm", LANG="C.UTF-8", NO_COLOR="1")
        self.assertNotIn("\x1b", text)
        self.assertIn("\N{HEAVY CHECK MARK} landlock", text)

    def test_usage(self):
        self.assertEqual(run("--wrong").returncode, 2)
        self.assertIn("Exit codes", run("--help").stdout)


class WallsTakenAway(unittest.TestCase):
    """What cannot be built is named, with what was tried, why, and the command that helps."""

    def check(self, found, walls, reason, cause, fix):
        for name in walls:
            wall = found["by_name"][name]
            self.assertFalse(wall["stands"], name)
            self.assertRegex(wall["reason"], reason)
            self.assertRegex(wall["cause"], cause)
            self.assertRegex(wall["fix"], fix)
        self.assertNotEqual(found["returncode"], 0)
        self.assertEqual(found["returncode"], found["exit_code"])

    def test_no_landlock(self):
        found = document(under="no_landlock")
        self.check(found, ["landlock"], r"Landlock.*EOPNOTSUPP", "lsm=", "GRUB_CMDLINE_LINUX")
        self.assertEqual(found["landlock"]["abi"], 0)
        self.assertTrue(found["by_name"]["seccomp"]["stands"])

    def test_no_seccomp(self):
        found = document(under="no_seccomp")
        self.check(found, ["seccomp", "events"], "system-call filter.*EINVAL", "seccomp", "seccomp")
        self.assertEqual(found["returncode"], 3)
        self.assertFalse(found["box"]["ran"])
        self.assertIn("system-call filter", found["box"]["reason"])

    def test_no_mounts(self):
        found = document(under="no_mounts")
        self.check(found, ["root"], "EPERM", "seccomp", "seccomp=unconfined")
        self.assertTrue(found["by_name"]["net namespace"]["stands"])
        self.assertEqual(found["returncode"], 3)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_low_hard_limit(self):
        found = document(user=NOBODY, prefix=("prlimit", "--nofile=512:512"))
        self.check(found, ["rlimits"], "limiting nofile to 1024.*EPERM", "hard limit",
                   "LimitNOFILE=")
        self.assertEqual(found["returncode"], 3)

    def test_a_missing_half(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(GLOVEBOX, folder)
            ended = subprocess.run([f"{folder}/glovebox", "doctor"], capture_output=True, text=True,
                                   timeout=60, check=False)
        self.assertEqual(ended.returncode, 3)
        self.assertIn("glovebox-python is missing", ended.stdout)


if __name__ == "__main__":
    unittest.main()
