"""Glovebox on hosts that refuse namespaces, and with cgroups that are given to it."""
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

NOBODY = 65534
CLONE_NEWUSER = 0x10000000
EVERY_NAMESPACE = CLONE_NEWUSER | 0x20000 | 0x4000000 | 0x8000000 | 0x20000000 | 0x40000000
MISSING = ["root", "pid namespace", "net namespace", "ipc namespace", "identity"]


def setUpModule():
    """Programs where nobody can reach them, whoever owns the build tree."""
    global FOLDER, GLOVEBOX
    FOLDER = tempfile.mkdtemp(prefix="glovebox-modes-")
    os.chmod(FOLDER, 0o755)
    built = os.path.dirname(os.environ["GLOVEBOX"])
    for name in ("glovebox", "glovebox-init", "glovebox-python"):
        shutil.copy(os.path.join(built, name), FOLDER)
    GLOVEBOX = os.path.join(FOLDER, "glovebox")


def tearDownModule():
    shutil.rmtree(FOLDER)


def refuse_namespaces(flags):
    """As a container's filter does: EPERM for these flags of clone and unshare, no clone3."""
    clone, unshare = (56, 272) if os.uname().machine == "x86_64" else (220, 97)
    steps = [(0x20, 0, 0, 0), (0x15, 5, 0, 435), (0x15, 1, 0, clone), (0x15, 0, 2, unshare),
             (0x20, 0, 0, 16), (0x45, 2, 0, flags), (0x06, 0, 0, 0x7FFF0000),
             (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x50000 | 1)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def start(*arguments, user=NOBODY, refused=CLONE_NEWUSER, **streams):
    who = {"user": user, "group": user, "extra_groups": []} if user else {}
    return subprocess.Popen([GLOVEBOX, *arguments], cwd="/", text=True, **who,
                            preexec_fn=lambda: refuse_namespaces(refused), **streams)


def run(*arguments, **how):
    with start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
               stderr=subprocess.PIPE, **how) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def document(code, *arguments, **how):
    _, out, err = run("exec", "--json", "--allow-degraded", *arguments, "-c", code, **how)
    return json.loads(out or json.dumps({"status": err}))


def folders(user=NOBODY):
    base = f"/dev/shm/glovebox-{user}"
    return [name for name in os.listdir(base) if name != "lock"] if os.path.isdir(base) else []


def ours():
    """Processes of our copy of the programs that do not end within a second."""
    left = []
    for _ in range(20):
        left = [pid for pid in os.listdir("/proc") if pid.isdigit() and runs_from(pid, FOLDER)]
        if not left:
            break
        time.sleep(0.05)
    return left


def runs_from(pid, folder):
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(folder)
    except OSError:
        return False


def names(walls):
    return [wall.split(":")[0] for wall in walls]


class ANormalUserWithoutNamespaces(unittest.TestCase):
    def test_is_refused_with_the_reason_and_the_fix(self):
        code, out, err = run("exec", "-c", "print(1)")
        self.assertEqual((code, out), (125, ""))
        for words in ("user namespaces (making namespaces: Operation not permitted)",
                      "system-call filter", "fix:", "--allow-degraded", *MISSING):
            self.assertIn(words, err)
        code, _, err = run("serve")
        self.assertEqual(code, 1)
        self.assertIn("--allow-degraded", err)

    def test_every_result_says_what_is_missing(self):
        result = document("print(2+2)")
        self.assertEqual((result["status"], result["stdout"]), ("completed", "4\n"))
        self.assertEqual(names(result["missing_walls"]), MISSING)
        self.assertEqual(result["limits_tier"], "supervisor")

    def test_the_doctor_lists_the_same(self):
        code, out, _ = run("doctor", "--json")
        found = json.loads(out)
        self.assertEqual((code, found["strength"]), (1, "degraded"), found["verdict"])
        self.assertEqual(names(found["box"]["missing_walls"]), MISSING)

    def test_serve_warns_once(self):
        process = start("serve", "--allow-degraded", stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, err = process.communicate("", timeout=60)
        self.assertEqual(err.count("degraded"), 2, err)  # "boxes are degraded (allow-degraded)"
        self.assertEqual(err.count("\n"), 1, err)

    def test_a_box_writes_into_a_folder_that_vanishes(self):
        code = ("import os, tempfile, time\nopen('a', 'w').write('x')\nprint(os.getcwd())\n"
                "print(tempfile.mkdtemp())\nprint(os.environ['HOME'] == os.getcwd())\n"
                "os.mkdir('closed', 0)\ntime.sleep(0.3)  # the box is looked at meanwhile")
        result = document(code)
        self.assertEqual(result["status"], "completed", result)
        cwd, scratch, at_home = result["stdout"].splitlines()
        self.assertTrue(cwd.startswith(f"/dev/shm/glovebox-{NOBODY}/"), cwd)
        self.assertTrue(scratch.startswith(os.path.dirname(cwd)), scratch)
        self.assertEqual(at_home, "True")
        self.assertEqual(folders(), [])

    def test_files_of_the_same_user_stay_what_they_are(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm", mode="w+") as canary:
            os.chown(canary.name, NOBODY, NOBODY)
            os.chmod(canary.name, 0o600)
            for act in ("open(p).read()", "open(p, 'w')", "os.unlink(p)", "os.chmod(p, 0)",
                        "os.utime(p, (0, 0))", "os.rename(p, p + 'x')", "os.truncate(p, 9)"):
                result = document(f"import os; p = {canary.name!r}; {act}")
                self.assertEqual(result["error_type"], "PermissionError", act)
            self.assertEqual(os.stat(canary.name).st_mode & 0o777, 0o600)

    def test_processes_of_the_same_user_are_out_of_reach(self):
        victim = subprocess.Popen(["sleep", "100"], user=NOBODY, group=NOBODY, extra_groups=[])
        try:
            for act in ("os.kill(p, 9)", "open(f'/proc/{p}/environ').read()",
                        "os.setpriority(os.PRIO_PROCESS, p, 19)", "os.setpgid(0, 0)", "os.setsid()",
                        "resource.prlimit(p, resource.RLIMIT_NOFILE, (0, 0))"):
                result = document(f"import os, resource; p = {victim.pid}; {act}")
                self.assertEqual(result["error_type"], "PermissionError", act)
            self.assertIsNone(victim.poll())
        finally:
            victim.kill()
            victim.wait()

    def test_nothing_outlives_its_execution(self):
        for ending in ("", "time.sleep(60)", "os.kill(os.getpid(), 9)"):
            result = document("import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n"
                              f"        os.fork()\n        time.sleep(60)\n{ending}",
                              "--timeout", "1")
            self.assertIn(result["status"], ("completed", "timed_out", "failed"), result)
            self.assertEqual(ours(), [], ending)

    def test_a_killed_server_leaves_no_process_and_a_folder_that_is_swept(self):
        code = ("import os, time\nif os.fork() == 0: os.fork()\nopen('a', 'w').write('x')\n"
                "print(1, flush=True)\ntime.sleep(60)")
        process = start("exec", "--allow-degraded", "-c", code, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE)
        process.stdout.readline()
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            self.assertIn(f"Uid:\t{NOBODY}", status.read())
        self.assertEqual(os.stat(f"/proc/{process.pid}/mem").st_uid, 0, "somebody can look into it")
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait()
        self.assertEqual(ours(), [])
        self.assertEqual(len(folders()), 1)
        document("1")
        self.assertEqual(folders(), [])

    def test_memory_ends_below_the_limit_and_a_quarter(self):
        for name, code in {
            "heap": "x = []\nwhile True: x.append(bytearray(1 << 20))",
            "files": "for n in range(9):\n    with open(f'a{n}', 'wb') as g:\n"
                     "        for _ in range(40): g.write(bytes(1 << 20)); g.flush()",
            "files without a name": "import os\nfor n in range(9):\n    f = open('a', 'wb')\n"
                                    "    os.unlink('a'); os.dup(f.fileno())\n"
                                    "    for _ in range(40): f.write(bytes(1 << 20)); f.flush()",
        }.items():
            with self.subTest(name):
                result = document(code + "\nimport time; time.sleep(5)", "--memory", "128m")
                self.assertEqual(result["limits_hit"], ["memory"], result)
                self.assertLess(result["peak_memory_bytes"], (128 << 20) * 1.25)
        result = document("f = open('a', 'wb'); f.truncate(65 << 20)", "--memory", "128m")
        self.assertEqual(result["error_type"], "OSError", result)


class RootWithoutUserNamespaces(unittest.TestCase):
    def test_is_at_full_strength(self):
        code = ("import os\nstatus = open('/proc/self/status').read()\n"
                "caps = {l.split()[1] for l in status.splitlines() if l.startswith('Cap')}\n"
                "print(os.getuid() >= 2_000_000_000, caps, 'NoNewPrivs:\\t1' in status,"
                " os.getpid(), os.getcwd())")
        _, out, _ = run("exec", "--json", "-c", code, user=0)
        result = json.loads(out)
        self.assertEqual(result["stdout"],
                         "True {'0000000000000000'} True 2 /work\n", result)
        self.assertNotIn("missing_walls", result)

    def test_the_doctor_says_so(self):
        code, out, _ = run("doctor", "--json", user=0)
        self.assertEqual((code, json.loads(out)["strength"]), (0, "full"), out)

    def test_the_zygote_is_not_root_and_keeps_a_named_set_of_capabilities(self):
        process = start("exec", "-c", "print(1, flush=True)\nwhile 1: pass", user=0,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            family, seen = [process.pid], []
            for pid in family:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                    family += children.read().split()
                with open(f"/proc/{pid}/status", encoding="ascii") as status:
                    lines = dict(line.split(":", 1) for line in status)
                seen.append((int(lines["Uid"].split()[1]), int(lines["CapEff"], 16),
                             int(lines["CapBnd"], 16)))
            _, zygote, init, python = seen
            # SETGID, SETUID, SETPCAP, SYS_ADMIN and KILL.
            allowed = 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 21
            self.assertGreaterEqual(zygote[0], 2_000_000_000)
            self.assertEqual(zygote[1] & ~allowed, 0)
            self.assertEqual(zygote[2] & ~allowed, 0)
            for process_of_box in (init, python):
                self.assertGreater(process_of_box[0], zygote[0])
                self.assertEqual(process_of_box[1:], (0, 0))
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


class AContainersRoot(unittest.TestCase):
    """No namespaces at all, but other uids."""

    def test_boxes_have_uids_of_their_own(self):
        result = document("import os\nopen('a', 'w').write('x')\nprint(os.getuid())", user=0,
                          refused=EVERY_NAMESPACE)
        self.assertEqual(result["status"], "completed", result)
        self.assertGreaterEqual(int(result["stdout"]), 2_000_000_000)
        self.assertEqual(names(result["missing_walls"]), MISSING[:4])
        self.assertEqual(folders(0), [])


class GivenCgroups(unittest.TestCase):
    """What a normal user is given: groups it owns, by path."""

    def setUp(self):
        self.made = []
        with open("/proc/self/mountinfo", encoding="ascii") as mounts:
            for line in mounts:
                words = line.split()
                if words[-3] != "cgroup" or not {"memory", "pids"} & set(words[-1].split(",")):
                    continue
                folder = f"{words[4]}/glovebox-test-{os.getpid()}"
                os.mkdir(folder)
                self.made.append(folder)
                os.chown(folder, NOBODY, NOBODY)
                for name in os.listdir(folder):
                    os.chown(os.path.join(folder, name), NOBODY, NOBODY)
        if len(self.made) < 2:
            self.skipTest("no memory and pids controllers on v1 here")

    def tearDown(self):
        for folder in self.made:
            os.rmdir(folder)

    def run_in(self, *arguments):
        ended = subprocess.run([GLOVEBOX, "exec", "--json", *arguments], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=60, cwd="/", user=NOBODY,
                               group=NOBODY, extra_groups=[], check=False)
        return ended, json.loads(ended.stdout or "{}")

    def test_the_kernel_holds_the_limits_of_a_normal_users_box(self):
        parent = f"/glovebox-test-{os.getpid()}"
        _, result = self.run_in("--cgroup-parent", parent, "-c",
                                "x = []\nwhile True: x.append(bytearray(1 << 20))")
        self.assertEqual((result["status"], result["limits_tier"]), ("limit_exceeded", "cgroup"))
        for folder in self.made:
            self.assertEqual([n for n in os.listdir(folder) if n.startswith("glovebox-")], [])

    def test_what_a_killed_server_left_is_swept(self):
        parent = f"/glovebox-test-{os.getpid()}"
        process = subprocess.Popen([GLOVEBOX, "exec", "--cgroup-parent", parent, "-c",
                                    "print(1, flush=True)\nwhile 1: pass"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
                                   user=NOBODY, group=NOBODY, extra_groups=[])
        process.stdout.readline()
        process.kill()
        process.stdout.close()
        process.wait()
        self.run_in("--cgroup-parent", parent, "-c", "1")
        for folder in self.made:
            self.assertEqual([n for n in os.listdir(folder) if n.startswith("glovebox-")], [])

    def test_a_parent_that_is_not_there_is_an_error(self):
        ended, _ = self.run_in("--cgroup-parent", "/no-such-group", "-c", "1")
        self.assertEqual(ended.returncode, 125)
        self.assertIn("--cgroup-parent /no-such-group: no such group", ended.stderr)


if __name__ == "__main__":
    unittest.main()
