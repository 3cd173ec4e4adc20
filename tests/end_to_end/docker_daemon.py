"""A docker daemon for as long as a test needs one, unless there is one already."""
import contextlib
import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

SOCKET = "/var/run/docker.sock"
SETTINGS = pathlib.Path("/etc/docker")  # older daemons make a key there, wherever their data is
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"


def docker(*words):
    """The client's standard output, in lines."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, "PATH": PATH})
    return done.stdout.splitlines() if done.returncode == 0 else None


def is_up():
    return docker("version", "--format", "{{.Server.Version}}") is not None


def groups():
    return glob.glob("/sys/fs/cgroup/docker") + glob.glob("/sys/fs/cgroup/*/docker")


@contextlib.contextmanager
def daemon():
    """Up inside, and gone afterwards with everything it made."""
    if is_up():
        yield
        return
    program = shutil.which("dockerd", path=PATH)
    if program is None:
        raise AssertionError("there is no dockerd: dev/setup test installs it")
    before, had, settings = groups(), SETTINGS.exists(), set(SETTINGS.glob("*"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dockerd-", dir="/var/tmp"))
    log = folder / "log"
    with log.open("w") as said:
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [program, "--data-root", str(folder / "data"), "--exec-root", str(folder / "exec"),
             "--pidfile", str(folder / "pid"), "--host", "unix://" + SOCKET, "--bridge=none",
             "--iptables=false", "--ip6tables=false"],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, "PATH": PATH})
    try:
        deadline = time.monotonic() + 30
        while not is_up():
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("dockerd does not start: " + log.read_text()[-2000:])
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
        pathlib.Path(SOCKET).unlink(missing_ok=True)
        for path in set(SETTINGS.glob("*")) - settings:
            path.unlink()
        if not had and SETTINGS.exists():
            SETTINGS.rmdir()
        for group in set(groups()) - set(before):
            os.rmdir(group)
