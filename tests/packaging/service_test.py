"""packaging/: the systemd unit and the AppArmor profile, read by the programs they are for, and
boxes built under the unit's restrictions."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
UNIT = SOURCE / "packaging/systemd/glovebox.service"
PROFILE = SOURCE / "packaging/apparmor/glovebox"
GLOVEBOX = os.environ["GLOVEBOX"]
EXPOSURE_MAX = 49  # "OK" ends at 5.0


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL if "input" not in options else None, **options)


def settings():
    """The unit's settings by name."""
    found = {}
    for line in UNIT.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, value)
    return found


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed (systemd)")
class Unit(unittest.TestCase):
    def test_systemd_understands_every_line(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, UNIT.name)
            unit.write_text(UNIT.read_text().replace("/usr/local/bin/glovebox", GLOVEBOX))
            verified = run("systemd-analyze", "verify", str(unit))
            self.assertEqual((verified.returncode, verified.stderr), (0, ""))
            unit.write_text(UNIT.read_text() + "\n[Service]\nNoSuchSetting=yes\n")
            self.assertIn("NoSuchSetting", run("systemd-analyze", "verify", str(unit)).stderr)

    def test_the_exposure_is_ok(self):
        judged = run("systemd-analyze", "security", "--offline=true",
                     f"--threshold={EXPOSURE_MAX}", str(UNIT))
        self.assertEqual(judged.returncode, 0, judged.stdout[-200:])
        self.assertRegex(judged.stdout,
                         r"Overall exposure level for glovebox.service: [0-4]\.\d OK")


class UnitHoldsBoxes(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_box_is_built_under_its_restrictions(self):
        """unit_sandbox.sh plays the settings; the group is what Delegate=yes gives."""
        folder = tempfile.mkdtemp()  # the unit hides /home and /root, where a source tree may be
        for name in ("glovebox", "glovebox-egress", "glovebox-init", "glovebox-python"):
            shutil.copy(os.path.join(os.path.dirname(GLOVEBOX), name), folder)
        for name in ("confine.py", "confinements.toml"):
            shutil.copy(SOURCE / "tests/end_to_end" / name, folder)
        script = shutil.copy(SOURCE / "tests/packaging/unit_sandbox.sh", folder)
        groups = self.enter_groups()
        try:
            ended = run("unshare", "-mi", script, f"{folder}/confine.py", f"{folder}/glovebox",
                        "doctor", "--json", cwd="/",
                        preexec_fn=lambda: [(group / "cgroup.procs").write_text("0")
                                            for group in groups])
        finally:
            shutil.rmtree(folder)
            for group in groups:
                group.rmdir()
        found = json.loads(ended.stdout or "{}")
        self.assertEqual(found.get("strength"), "full", ended.stdout + ended.stderr)
        self.assertEqual(found["limits_tier"], "cgroup")

    def enter_groups(self):
        """One group of our own in each v1 hierarchy; on v2 the server makes its groups itself."""
        lines = pathlib.Path("/proc/self/mounts").read_text().split("\n")
        mounts = [line.split() for line in lines]
        groups = []
        for mount in mounts:
            if len(mount) > 3 and mount[2] == "cgroup" and \
                    {"memory", "pids", "cpu", "cpuacct"} & set(mount[3].split(",")):
                group = pathlib.Path(mount[1], f"unit-test-{os.getpid()}")
                group.mkdir(mode=0o755)
                groups.append(group)
        return groups

    def test_the_script_plays_what_the_unit_says(self):
        """A setting that the script does not know of would be untested."""
        script = (SOURCE / "tests/packaging/unit_sandbox.sh").read_text()
        filters = (SOURCE / "tests/end_to_end/confinements.toml").read_text()
        harmless = {"Description", "Documentation", "After", "Type", "ExecStart", "EnvironmentFile",
                    "Restart", "RestartSec", "KillMode", "TimeoutStopSec", "Delegate", "TasksMax",
                    "RuntimeDirectoryPreserve", "RuntimeDirectoryMode", "IPAddressDeny",
                    "IPAddressAllow", "DevicePolicy", "PrivateMounts", "SystemCallArchitectures",
                    "KeyringMode", "RemoveIPC", "UMask", "LimitCORE", "WantedBy"}
        played = {name for name in settings() if f"{name}=" in script + filters}
        self.assertEqual(set(settings()) - harmless, played - harmless)
        capabilities = settings()["CapabilityBoundingSet"].replace("CAP_", "").lower().split()
        self.assertIn("--bounding-set=-all," + ",".join(f"+{one}" for one in capabilities), script)


@unittest.skipUnless(shutil.which("apparmor_parser"), "apparmor_parser is not installed (apparmor)")
class Profile(unittest.TestCase):
    def test_the_parser_takes_it(self):
        version = int(re.search(r"version (\d+)", run("apparmor_parser", "--version").stdout)[1])
        text = PROFILE.read_text()
        if version < 4:
            # These two came with AppArmor 4, as did the restriction they are for.
            text = re.sub(r"^(abi .*|\s*userns),\n", "", text, flags=re.MULTILINE)
        parsed = run("apparmor_parser", "--skip-kernel-load", "--skip-cache", "--names", input=text)
        self.assertEqual((parsed.returncode, parsed.stdout.strip()), (0, "glovebox"), parsed.stderr)
        broken = run("apparmor_parser", "--skip-kernel-load", "--skip-cache", "--names",
                     input=text.replace("}", ""))
        self.assertNotEqual(broken.returncode, 0)

    def test_it_grants_user_namespaces_to_the_installed_program(self):
        text = PROFILE.read_text()
        self.assertRegex(text, r"profile glovebox /usr/local/bin/glovebox flags=\(unconfined\) \{")
        self.assertRegex(text, r"\n  userns,\n")


@unittest.skipUnless((SOURCE / "build/bin/glovebox").exists(), "build/bin is empty: make build")
class Install(unittest.TestCase):
    def make(self, target, folder, prefix):
        ended = run("make", "-C", str(SOURCE), "--old-file=build", target, f"DESTDIR={folder}",
                    f"PREFIX={prefix}")
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_every_file_names_the_installed_program_and_goes_again(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make("install", folder, "/opt/box")
            top = pathlib.Path(folder, "opt/box")
            unit = (top / "lib/systemd/system/glovebox.service").read_text()
            self.assertIn("\nExecStart=/opt/box/bin/glovebox serve --transport http\n", unit)
            self.assertIn("profile glovebox /opt/box/bin/glovebox ",
                          (top / "share/glovebox/apparmor/glovebox").read_text())
            self.make("uninstall", folder, "/opt/box")
            left = [str(path) for path in pathlib.Path(folder).rglob("*") if not path.is_dir()]
            self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
