#!/usr/bin/python3
"""`glovebox run` with ordinary commands, as root and as a normal user: run_test.py

GLOVEBOX names the program. Grants, refusals, limits, signals, exit codes, and that nothing is left.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GLOVEBOX = os.environ["GLOVEBOX"]
NOBODY = 65534


def run(*words, text=None, user=None, env=None, **options):
    def become():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    return subprocess.run([GLOVEBOX, "run", *words], input=text, capture_output=True, text=True,
                          timeout=60, preexec_fn=become if user else None,
                          env=env or {"PATH": "/usr/bin:/bin", "HOME": "/root"}, **options)


def processes_named(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line and int(pid) != os.getpid():
            found.append(int(pid))
    return found


def groups():
    """Cgroups of any Glovebox on this host in which nobody is."""
    found = subprocess.run(["find", "/sys/fs/cgroup", "-type", "d", "-name", "glovebox-*"],
                           capture_output=True, text=True, check=False).stdout.split()
    return {folder for folder in found
            if not subprocess.run(f"cat {folder}/cgroup.procs {folder}/*/cgroup.procs 2>/dev/null",
                                  shell=True, capture_output=True, check=False).stdout}


def mounts():
    return pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")


class Commands(unittest.TestCase):
    user = None

    def run_in_jail(self, *words, **options):
        return run(*words, user=self.user, **options)

    def setUp(self):
        # Not below /tmp, so that the grants are what shows it.
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.folder)], check=False)
        (self.folder / "in").mkdir()
        (self.folder / "in" / "secret").write_text("granted\n")
        (self.folder / "out").mkdir()
        (self.folder / "alone.txt").write_text("one file\n")
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, self.user or 0, self.user or 0)
            path.chmod(0o700 if path.is_dir() else 0o600)

    def test_root_of_the_jail(self):
        result = self.run_in_jail("--", "ls", "/")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = result.stdout.split()
        self.assertIn("usr", names)
        self.assertNotIn("root", names)
        self.assertNotIn("sys", names)
        self.assertEqual(result.stderr, "")

    def test_exit_code_input_and_output(self):
        result = self.run_in_jail("--", "sh", "-c", "cat; echo err >&2; exit 7", text="through\n")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (7, "through\n", "err\n"))
        self.assertEqual(self.run_in_jail("--", "sh", "-c", "kill -9 $$").returncode, 137)
        self.assertEqual(self.run_in_jail("--", "sh", "-c", "kill -TERM $$").returncode, 143)

    def test_large_output_is_complete(self):
        size = 20_000_000
        result = self.run_in_jail("--", "head", "-c", str(size), "/dev/zero")
        self.assertEqual(len(result.stdout), size)

    def test_grants(self):
        inside, out = self.folder / "in", self.folder / "out"
        result = self.run_in_jail("--read", str(inside), "--write", str(out), "--read",
                                  str(self.folder / "alone.txt"), "--", "sh", "-c",
                                  f"cat {inside}/secret {self.folder}/alone.txt; "
                                  f"echo made > {out}/new; echo no > {inside}/new; "
                                  f"ls {self.folder}")
        self.assertEqual(result.stdout, "granted\none file\nalone.txt\nin\nout\n", result.stderr)
        self.assertEqual((out / "new").read_text(), "made\n")
        self.assertEqual((out / "new").stat().st_uid, self.user or 0)
        self.assertFalse((inside / "new").exists())
        self.assertIn(f"glovebox: refused: write {inside}/new: it is read-only", result.stderr)

    def test_rules_compose_by_depth(self):
        inside = self.folder / "in"
        script = f"echo x > {inside}/deep; echo x > {self.folder}/top"
        result = self.run_in_jail("--read", str(self.folder), "--write", str(inside), "--",
                                  "sh", "-c", script)
        self.assertTrue((inside / "deep").exists(), result.stderr)
        self.assertFalse((self.folder / "top").exists())
        (inside / "deep").unlink()
        result = self.run_in_jail("--write", str(self.folder), "--read", str(inside), "--",
                                  "sh", "-c", script)
        self.assertFalse((inside / "deep").exists())
        self.assertTrue((self.folder / "top").exists(), result.stderr)

    def test_bad_grants_are_refused_before_anything_runs(self):
        (self.folder / ".ssh").mkdir()
        (self.folder / "in" / "link").symlink_to("/etc")
        for words, sentence in (
                (("--read", "/nowhere"), "--read /nowhere: /nowhere does not exist"),
                (("--read", "/"), "the whole host is not granted"),
                (("--read", "/proc/1"), "/proc of the host is not granted"),
                (("--write", "/tmp"), "every jail has /tmp to itself"),
                (("--read", "/etc"), "holds a part of the jail itself"),
                (("--read", str(self.folder), "--write", str(self.folder)), "contradicts"),
                (("--read", "/etc/shadow"), "is refused (/etc/shadow: password hashes)"),
                (("--allow-sensitive", "/etc/shadow"), "allows nothing"),
                (("--env", "1X=2"), "is no name of a variable"),
                (("--net", "not a host"), "--net"),
                (("--memory", "1k"), "at least"),
                (("--timeout", "5 parsecs"), "--timeout"),
                (("--profile", "lisp"), "is no profile")):
            result = self.run_in_jail(*words, "--", "echo", "ran")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(sentence, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_environment(self):
        env = {"PATH": "/usr/bin:/bin", "HOME": "/root", "TOKEN": "secret", "WANTED": "yes"}
        result = self.run_in_jail("--env", "WANTED", "--env", "MADE=x=y", "--", "env", env=env)
        self.assertNotIn("secret", result.stdout)
        self.assertIn("WANTED=yes\n", result.stdout)
        self.assertIn("MADE=x=y\n", result.stdout)
        self.assertIn("HOME=/home/box\n", result.stdout)

    def test_private_folders_can_run_programs(self):
        script = ("cp /bin/true $HOME/mine && $HOME/mine && cp /bin/true /tmp/mine && "
                  "/tmp/mine && echo ran")
        result = self.run_in_jail("--", "sh", "-c", script)
        self.assertEqual(result.stdout, "ran\n", result.stderr)
        self.assertFalse(pathlib.Path("/home/box/mine").exists())
        result = self.run_in_jail("--write", str(self.folder / "out"), "--", "sh", "-c",
                                  f"cp /bin/true {self.folder}/out/mine && {self.folder}/out/mine")
        self.assertEqual(result.returncode, 126, result.stderr)

    def test_no_file_lends_its_owner(self):
        out = self.folder / "out"
        result = self.run_in_jail("--write", str(out), "--", "sh", "-c",
                                  f"cp /bin/true {out}/x; chmod u+s {out}/x; chmod 2755 {out}")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual((out / "x").stat().st_mode & 0o6000, 0)
        self.assertEqual(out.stat().st_mode & 0o6000, 0)

    def test_limits(self):
        result = self.run_in_jail("--memory", "64m", "--", "python3", "-c",
                                  "x = bytearray(300 << 20)")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--memory", result.stderr)
        result = self.run_in_jail("--pids", "12", "--", "sh", "-c",
                                  "i=0; while [ $i -lt 40 ]; do sleep 2 & i=$((i+1)); done; wait")
        self.assertIn("fork", result.stderr.lower())
        result = self.run_in_jail("--files", "64", "--", "sh", "-c", "ulimit -n")
        self.assertEqual(result.stdout, "64\n")
        start = time.monotonic()
        result = self.run_in_jail("--timeout", "500ms", "--", "sleep", "60")
        self.assertEqual(result.returncode, 124)
        self.assertIn("(--timeout)", result.stderr)
        self.assertLess(time.monotonic() - start, 10)
        result = self.run_in_jail("--idle", "500ms", "--", "sleep", "60", stdin=None)
        self.assertEqual(result.returncode, 124)

    def test_disk_rate(self):
        out = self.folder / "out"
        big = out / "big"
        write = ("import mmap, os, sys\n"
                 "page = mmap.mmap(-1, 1 << 20)\n"
                 "file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)\n"
                 "for _ in range(4): os.write(file, page)\n")
        command = ("--write", str(out), "--profile", "generic", "--", "python3", "-c", write,
                   str(big))
        if self.user is not None:
            result = self.run_in_jail("--io", "2m", *command)
            self.assertEqual(result.returncode, 125, result.stderr)
            self.assertIn("--io needs a cgroup", result.stderr)
            return
        if os.major(out.stat().st_dev) == 0:
            self.skipTest("the test's folder is on no disk")
        seconds = {}
        for rate in ("2m", "200m"):
            start = time.monotonic()
            result = self.run_in_jail("--io", rate, *command)
            seconds[rate] = time.monotonic() - start
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(seconds["2m"], 1.5)
        self.assertLess(seconds["200m"], seconds["2m"] - 0.5)
        result = self.run_in_jail("--io", "1k", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("io: at least 64k in a second", result.stderr)

    def test_a_name_that_is_looked_up_is_a_matter_of_hosts(self):
        look_up = "import socket; socket.getaddrinfo('host.example', 443)"
        result = self.run_in_jail("--", "python3", "-c", look_up)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("refused: look up a name: there is no name service in a jail; allow with "
                      "--net HOST", result.stderr)
        self.assertNotIn("/etc/", "".join(line for line in result.stderr.splitlines()
                                          if line.startswith("glovebox:")))

    def test_must_not(self):
        for program, act in (("unshare -U true", "unshare"), ("mount -t tmpfs x /tmp", "mount")):
            result = self.run_in_jail("--", *program.split())
            self.assertNotEqual(result.returncode, 0, program)
            self.assertIn(f"glovebox: refused: {act}", result.stderr)
        probe = ("import socket\n"
                 "for family in (1, 16, 17, 38, 40):\n"
                 "    try: socket.socket(family, 2 if family != 17 else 3); print('open', family)\n"
                 "    except OSError as error: print(family, error.errno)\n")
        result = self.run_in_jail("--", "python3", "-c", probe)
        self.assertNotIn("open", result.stdout)
        self.assertIn("socket AF_VSOCK SOCK_DGRAM: a network namespace holds IP, and not what this "
                      "would reach", result.stderr)

    def test_signals_reach_the_program(self):
        with subprocess.Popen([GLOVEBOX, "run", "--", "sh", "-c",
                               "trap 'echo caught; exit 9' TERM; echo ready; "
                               "while :; do sleep 0.1; done"],
                              stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.stdout.readline(), "caught\n")
            self.assertEqual(child.wait(10), 9)

    def test_an_obstinate_program_is_ended(self):
        with subprocess.Popen([GLOVEBOX, "run", "--", "sh", "-c",
                               "trap '' TERM; echo ready; while :; do sleep 0.1; done"],
                              stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(10), 137)

    def test_policies(self):
        def policy(*words):
            return subprocess.run([GLOVEBOX, "policy", *words], capture_output=True, text=True,
                                  check=False)
        file = self.folder / "p.toml"
        file.write_text(f'profile = "node"\nread = ["{self.folder}/in"]\nmemory = "256m"\n')
        self.assertEqual(policy("check", str(file)).returncode, 0)
        for name in ("filesystem", "memory", "everything", "fetch"):
            self.assertEqual(policy("check", name).returncode, 0)
        lines = json.loads(policy("explain", "--json", str(file)).stdout)["lines"]
        self.assertIn({"word": "memory", "value": "256m", "meaning": "memory up to 256m",
                       "default": False}, lines)
        other = self.folder / "q.toml"
        other.write_text(f'profile = "node"\nwrite = ["{self.folder}/in"]\nmemory = "256m"\n')
        changes = policy("diff", "--json", str(file), str(other))
        self.assertEqual(changes.returncode, 1)
        self.assertEqual([(change["change"], change["word"], change["widens"])
                          for change in json.loads(changes.stdout)["changes"]],
                         [("removed", "read", False), ("added", "write", True)])
        for text, sentence in (('reed = []', "unknown key `reed`"), ('read = ["x"]', "absolute"),
                               ('memory = "a"', "memory"),
                               ('read = ["/nowhere"]', "does not exist"),
                               ('idle = 5', "must be a text"), ('env = ["="]', "no name")):
            file.write_text(text + "\n")
            result = policy("check", str(file))
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(sentence, result.stderr)
        result = self.run_in_jail("--policy", str(other), "--", "ls", str(self.folder))
        self.assertEqual(result.stdout, "in\n", result.stderr)


class AsNormalUser(Commands):
    user = NOBODY

    def test_policies(self):
        self.skipTest("has no user")

    def test_signals_reach_the_program(self):
        self.skipTest("started by the one above")

    def test_an_obstinate_program_is_ended(self):
        self.skipTest("started by the one above")


class Kills(unittest.TestCase):
    def test_nothing_is_left_after_random_kills(self):
        """GLOVEBOX_KILLS starts, each killed at a random moment of its start or life."""
        groups_before, mounts_before = groups(), mounts()
        count = int(os.environ.get("GLOVEBOX_KILLS", "500"))
        mark = f"jail-kill-{os.getpid()}"
        choice = random.Random(7)
        for _ in range(count):
            # pylint: disable=consider-using-with
            child = subprocess.Popen([GLOVEBOX, "run", "--", "sh", "-c", f": {mark}; sleep 100"],
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            time.sleep(choice.random() * 0.06)
            child.send_signal(choice.choice((signal.SIGKILL, signal.SIGTERM)))
            child.stdin.close()
            child.wait(10)
        deadline = time.monotonic() + 10
        left = groups() - groups_before
        while (processes_named(mark) or left) and time.monotonic() < deadline:
            time.sleep(0.1)
            left &= groups()
        self.assertEqual(processes_named(mark), [])
        self.assertEqual(left, set())
        self.assertEqual(mounts(), mounts_before)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root: it starts jails as root and as another user", file=sys.stderr)
    unittest.main(verbosity=1)
