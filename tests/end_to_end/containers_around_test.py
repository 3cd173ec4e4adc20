"""Glovebox inside containers, as far as they can be played here: Docker's default system-call
filter with its default capabilities, and namespaces around the server."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# What `docker run` leaves to root.
CAPABILITIES = ("chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service "
                "net_raw sys_chroot mknod audit_write setfcap").split()
TESTS = pathlib.Path(__file__).parent


def setUpModule():
    """Programs where every user can reach them, whoever owns the build tree."""
    global FOLDER, GLOVEBOX
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root, to give capabilities away")
    FOLDER = tempfile.mkdtemp(prefix="glovebox-around-")
    os.chmod(FOLDER, 0o755)
    built = os.path.dirname(os.environ["GLOVEBOX"])
    for source in (f"{built}/glovebox", f"{built}/glovebox-init", f"{built}/glovebox-python",
                   TESTS / "confine.py", TESTS / "confinements.toml"):
        shutil.copy(source, FOLDER)
    GLOVEBOX = os.path.join(FOLDER, "glovebox")


def tearDownModule():
    if os.geteuid() == 0:
        shutil.rmtree(FOLDER)


def docker(*command, user=0, filtered=True):
    """`command` as a container of Docker's defaults would run it, as root or as `user`."""
    kept = "-all" + "".join(f",+{name}" for name in CAPABILITIES)
    wrapped = ["setpriv", f"--bounding-set={kept}", "--inh-caps=-all", "--clear-groups",
               f"--reuid={user}", f"--regid={user}"]
    if filtered:
        wrapped += [sys.executable if user == 0 else "/usr/bin/python3", "-B",
                    f"{FOLDER}/confine.py", "docker"]
    return subprocess.run([*wrapped, *command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, cwd="/", check=False)


def doctor(**options):
    ended = docker(GLOVEBOX, "doctor", "--json", **options)
    found = json.loads(ended.stdout)
    found["returncode"] = ended.returncode
    found["by_name"] = {wall["name"]: wall for wall in found["walls"]}
    return found


class DockersDefaults(unittest.TestCase):
    """Its filter refuses namespaces: boxes would be weaker, and are refused unless asked for."""

    def check(self, user):
        found = doctor(user=user)
        self.assertEqual((found["returncode"], found["strength"]), (1, "degraded"), found)
        for name in ("root", "pid namespace", "net namespace", "ipc namespace"):
            wall = found["by_name"][name]
            self.assertFalse(wall["stands"], name)
            self.assertIn("seccomp", wall["cause"])
            self.assertIn("seccomp=unconfined", wall["fix"])
        for name in ("landlock", "seccomp", "events", "rlimits", "interpreter"):
            self.assertTrue(found["by_name"][name]["stands"], found["by_name"][name])
        self.assertIn("--allow-degraded", found["verdict"])
        refused = docker(GLOVEBOX, "exec", "-c", "print(2+2)", user=user)
        self.assertEqual((refused.returncode, refused.stdout), (125, ""))
        self.assertIn("--allow-degraded", refused.stderr)
        self.assertIn("seccomp", refused.stderr)
        weaker = docker(GLOVEBOX, "exec", "--allow-degraded", "--json", "-c", "print(2+2)",
                        user=user)
        result = json.loads(weaker.stdout)
        self.assertEqual(result["stdout"], "4\n")
        self.assertEqual(sorted(result["missing_walls"]), sorted(found["box"]["missing_walls"]))

    def test_root(self):
        self.check(0)

    def test_a_normal_user(self):
        self.check(1000)


class DockerWithoutItsFilter(unittest.TestCase):
    """--security-opt seccomp=unconfined, and no capability more than by default."""

    def test_full_strength(self):
        for user in (0, 1000):
            found = doctor(user=user, filtered=False)
            self.assertEqual(found["strength"], "full", found)


class NestedNamespaces(unittest.TestCase):
    """A rootless container: root of a user namespace that maps few uids."""

    def run_inside(self, *command):
        return subprocess.run(["unshare", "-Urmpf", "--mount-proc", *command], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, cwd="/",
                              check=False)

    def test_a_box_is_built(self):
        ended = self.run_inside(GLOVEBOX, "exec", "--json", "-c", "print(2+2)")
        result = json.loads(ended.stdout or json.dumps({"stdout": ended.stderr}))
        self.assertEqual(result["stdout"], "4\n")
        self.assertEqual(result["limits_tier"], "supervisor")
        self.assertNotIn("missing_walls", result)

    def test_doctor_says_so(self):
        ended = self.run_inside(GLOVEBOX, "doctor", "--json")
        found = json.loads(ended.stdout)
        self.assertEqual((ended.returncode, found["setting"]), (0, "inside a user namespace"),
                         found)


if __name__ == "__main__":
    unittest.main()
