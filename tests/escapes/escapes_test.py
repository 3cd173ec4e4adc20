"""Every escape attempt of attempts/ three times: by the system's Python, where it must work, or it
proves nothing; in a box without the language layer, where the kernel alone must make it harmless;
in a box with the policy of the profile 'basic', where it must be refused.

An attempt is a program that does something to the host, named by what it mentions:
    @CANARY@       a file whose secret it shows
    @ENVIRONMENT@  the environment, whose secret it shows
    @MARK@         a file it makes, itself or by a program
    @PORT@         a port of the loopback interface it connects to
    @VICTIM@       a process it signals
Whether it happened is seen from outside.
"""

import concurrent.futures
import glob
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import programs

REFUSED_MIN = 0.97
CLASSES_MIN = 20
ATTEMPTS_MIN = 150
VARIABLE = "ESCAPE_CANARY"
HERE = os.path.dirname(os.path.abspath(__file__))


class Scene:
    """What one attempt may try to reach, and whether it did."""

    def __init__(self, folder, text):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.mark = self.folder + "/mark"
        self.signalled = self.folder + "/signalled"
        self.canary = self.folder + "/canary"
        self.secret = secrets.token_hex(8)
        self.listener = self.victim = None
        with open(self.canary, "w", encoding="ascii") as file:
            file.write(self.secret + "\n")
        words = {"@CANARY@": self.canary, "@MARK@": self.mark, "@ENVIRONMENT@": "",
                 "@VARIABLE@": VARIABLE}
        if "@PORT@" in text:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.listener.setblocking(False)
            words["@PORT@"] = str(self.listener.getsockname()[1])
        if "@VICTIM@" in text:
            self.victim = subprocess.Popen(
                ["/bin/sh", "-c", f"trap 'touch {self.signalled}; exit' USR1; echo; "
                 "sleep 100 & wait; kill $!"], stdout=subprocess.PIPE, start_new_session=True)
            self.victim.stdout.readline()
            words["@VICTIM@"] = str(self.victim.pid)
        self.code = text
        for word, meaning in words.items():
            self.code = self.code.replace(word, meaning)
        self.shows_environment = "@ENVIRONMENT@" in text

    def happened(self, shown, environment_secret):
        if self.victim is not None:
            deadline = time.monotonic() + 0.3
            while not os.path.exists(self.signalled) and time.monotonic() < deadline:
                time.sleep(0.02)
        if os.path.exists(self.mark) or os.path.exists(self.signalled) or self.secret in shown:
            return True
        if self.shows_environment and environment_secret in shown:
            return True
        if self.listener is not None:
            try:
                self.listener.accept()[0].close()
                return True
            except BlockingIOError:
                pass
        return False

    def close(self):
        if self.listener is not None:
            self.listener.close()
        if self.victim is not None:
            try:
                os.killpg(self.victim.pid, 9)
            except ProcessLookupError:
                pass
            self.victim.wait()
            self.victim.stdout.close()


def read_attempts():
    attempts = []
    for path in sorted(glob.glob(HERE + "/attempts/*.txt")):
        kind = os.path.basename(path)[:-len(".txt")]
        for name, text in programs.read_table(path).items():
            attempts.append((f"{kind}/{name}", text))
    return attempts


def run_on_host(scene, environment):
    path = scene.folder + "/attempt.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(scene.code)
    try:
        done = subprocess.run(["/usr/bin/python3", "-B", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                              timeout=60, check=False)
        return done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return "timed out"


def shown_by(answer):
    return answer["stdout"] + answer["stderr"] + answer["message"] + answer["traceback"] + \
        answer["value_repr"]


def was_refused(answer):
    ours = any(refusal["layer"] == "interpreter" for refusal in answer["refusals"])
    return answer["status"] == "violated" or bool(answer["findings"]) or ours


def in_boxes(folder, attempts, environment, policy):
    """(name, happened, answer) of each."""
    scenes = [Scene(folder, text) for _, text in attempts]
    answers = programs.run([{"code": scene.code, **policy} for scene in scenes], environment)
    results = []
    for (name, _), scene, answer in zip(attempts, scenes, answers):
        results.append((name, scene.happened(shown_by(answer), environment[VARIABLE]), answer))
        scene.close()
    return results


def check_host(folder, attempts, environment):
    def once(attempt):
        scene = Scene(folder, attempt[1])
        shown = run_on_host(scene, environment)
        happened = scene.happened(shown, environment[VARIABLE])
        scene.close()
        return None if happened else f"{attempt[0]} does nothing on the host: {shown[-300:]}"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [problem for problem in pool.map(once, attempts) if problem]


def check_full(folder, attempts, environment):
    problems = []
    for name, happened, answer in in_boxes(folder, attempts, environment, {}):
        if happened:
            problems.append(f"{name} HAPPENED in a box without the language layer")
        if answer["status"] in ("timed_out", "setup_failed"):
            problems.append(f"{name} ended as {answer['status']}: {answer['message']}")
    return problems


def check_basic(folder, attempts, environment):
    problems = []
    refused = {}
    policy = {"modules": programs.BASIC_MODULES}
    for name, happened, answer in in_boxes(folder, attempts, environment, policy):
        kind = name.split("/")[0]
        refused.setdefault(kind, []).append(was_refused(answer))
        if happened:
            problems.append(f"{name} HAPPENED in 'basic'")
        if not was_refused(answer):
            print(f"  not refused: {name}: {answer['status']} {answer['message'][:150]}")
    total = sum(len(answers) for answers in refused.values())
    kept = sum(sum(answers) for answers in refused.values())
    print(f"basic: {kept} of {total} refused, {len(refused)} classes")
    if kept < REFUSED_MIN * total:
        problems.append(f"only {kept} of {total} attempts are refused")
    problems += [f"class {kind} is not refused once" for kind, answers in refused.items()
                 if not any(answers)]
    if len(refused) < CLASSES_MIN or total < ATTEMPTS_MIN:
        problems.append(f"{total} attempts in {len(refused)} classes are too few")
    return problems


def main():
    attempts = [attempt for attempt in read_attempts()
                if not sys.argv[1:] or any(word in attempt[0] for word in sys.argv[1:])]
    environment = dict(os.environ)
    environment[VARIABLE] = secrets.token_hex(8)
    folder = tempfile.mkdtemp(prefix="escapes-", dir="/var/tmp")
    os.chmod(folder, 0o755)
    problems = []
    try:
        for check in (check_host, check_full, check_basic):
            start = time.monotonic()
            found = check(folder, attempts, environment)
            problems += found
            print(f"{check.__name__[6:]}: {len(attempts)} attempts, {len(found)} problems, "
                  f"{time.monotonic() - start:.1f} s", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
