"""Runs the official MCP conformance suites against a server that it starts, and judges every check.

    run_conformance.py --results FOLDER [--baseline FILE] -- SERVER ARGUMENT...

SERVER must listen on a loopback port of its own choice and write its address (http://...) to
standard error. Without a baseline a single check that failed, warned or was skipped fails the run.
A baseline lists the checks that may fail, by run and scenario; one that passes after all is stale
and fails the run as well; warnings and skipped checks are then shown only.
A scenario that the suite offers and that did not run fails it, too.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ADDRESS = re.compile(rb"http://(?:127\.0\.0\.1|\[::1\]|localhost):\d+(?:/[\w/-]*)?")
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 15
SUITE_SECONDS_MAX = 300

# One call of a suite. `select` are its arguments; `listing` those of the list of what it must run.
Run = namedtuple("Run", "name package select listing")
RUNS = [
    Run("2025-11-25", "conformance-alpha", ["--requirements", "2025-11-25"],
        ["--requirements", "2025-11-25"]),
    Run("2026-07-28", "conformance-alpha", ["--requirements", "2026-07-28"],
        ["--requirements", "2026-07-28"]),
    Run("2025-06-18", "conformance-alpha", ["--suite", "all", "--spec-version", "2025-06-18"],
        ["--spec-version", "2025-06-18"]),
    Run("0.1.16", "conformance-latest", ["--suite", "all"], []),
]
# Scenarios of an extension that Glovebox does not offer, and that no requirement set contains.
NOT_APPLICABLE = re.compile(r"sep-2640-skills-")
# Its one check skips itself, whatever the server does.
ALWAYS_SKIPPED = "tasks-status-notifications"

# What a scenario came to: its checks by status, and whether the revision requires it.
Scenario = namedtuple("Scenario", "required checks")


class Failure(Exception):
    pass


def suite(run, *arguments):
    return [os.path.join(TESTS, "node"),
            os.path.join(TESTS, "node_modules", run.package, "dist", "index.js"), *arguments]


def listed_scenarios(run, listing):
    """{scenario: required} as the suite itself lists them for servers."""
    output = subprocess.run(suite(run, "list", "--server", *listing), check=True, text=True,
                            stdout=subprocess.PIPE, timeout=SUITE_SECONDS_MAX).stdout
    servers, _, rest = output.partition("Client scenarios")
    unscored = rest.partition("never scored")[2]
    found = {name: True for name in re.findall(r"^\s+- (\S+)", servers, re.MULTILINE)}
    found.update({name: False for name in re.findall(r"- (\S+) \[server\]", unscored)})
    return {name: required for name, required in found.items() if not NOT_APPLICABLE.match(name)}


class Server:
    """The server under test; its words go to a file."""

    def __init__(self, command, log_path):
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)

    def log(self):
        with open(self.log_path, "rb") as log:
            return log.read()

    def url(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and self.process.poll() is None:
            if match := ADDRESS.search(self.log()):
                found = match.group().decode()
                return found if found.count("/") > 2 else found + "/mcp"
            time.sleep(0.01)
        raise Failure(f"the server named no address within {START_SECONDS_MAX} s")

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"the server ended by itself with {self.process.returncode}")

    def stop(self):
        """SIGTERM must end it with 0: a sanitizer speaks through the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"the server ignored SIGTERM for {STOP_SECONDS_MAX} s") from None
        if code != 0:
            raise Failure(f"after SIGTERM the server ended with {code}, not 0")


def read_checks(folder):
    """{scenario: checks} of one run's output folder; a scenario that broke off has none."""
    scenarios = {}
    for entry in sorted(os.listdir(folder)):
        match = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", entry)
        checks = os.path.join(folder, entry, "checks.json")
        if match and os.path.exists(checks):
            with open(checks, encoding="utf-8") as file:
                scenarios[match.group(1)] = [check for check in json.load(file)
                                             if check["status"] != "INFO"]
    return scenarios


def run_suite(run, url, results):
    """{scenario: Scenario} of everything the run should contain."""
    listed = listed_scenarios(run, run.listing)
    folder = os.path.join(results, run.name)
    with open(folder + ".txt", "wb") as output:
        subprocess.run(suite(run, "server", "--url", url, "-o", folder, *run.select), check=False,
                       stdout=output, stderr=output, timeout=SUITE_SECONDS_MAX)
    done = read_checks(folder) if os.path.isdir(folder) else {}
    listed.update({name: True for name in done if name not in listed})
    missing = [{"id": "verdict", "status": "FAILURE", "errorMessage": "it came to no verdict"}]
    return {name: Scenario(required, done.get(name) or missing)
            for name, required in listed.items()}


def read_baseline(path):
    """{(run, scenario, check)}; the file is YAML of the plainest kind: lists under run names."""
    allowed, run = set(), None
    if path is None:
        return allowed
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            text = line.partition("#")[0].rstrip()
            if not text:
                continue
            entry = re.fullmatch(r"\s+- ([\w.-]+):([\w.-]+)", text)
            heading = re.fullmatch(r'"([\w.-]+)":', text)
            if entry and run:
                allowed.add((run, *entry.groups()))
            elif heading and heading.group(1) in {run.name for run in RUNS}:
                run = heading.group(1)
            else:
                raise Failure(f'{path}:{number}: expected "RUN": or "- scenario:check"')
    return allowed


def judge(outcomes, allowed, strict):
    """Sentences about what is wrong; empty when all is well."""
    problems, used = [], set()
    failing = {"FAILURE", "WARNING", "SKIPPED"} if strict else {"FAILURE"}
    for run, scenarios in outcomes.items():
        for name, scenario in scenarios.items():
            for check in scenario.checks:
                key = (run, name, check["id"])
                if key in allowed and check["status"] in ("FAILURE", "WARNING"):
                    used.add(key)
                elif check["status"] in failing and name != ALWAYS_SKIPPED:
                    problems.append(f"{run} {name}:{check['id']} {check['status']}: "
                                    f"{check.get('errorMessage', 'no message')}")
    problems += [f"{run} {name}:{check} is in the baseline but does not fail: remove it"
                 for run, name, check in sorted(allowed - used)]
    return problems


def count(scenario, *statuses):
    return sum(check["status"] in statuses for check in scenario.checks)


def passed(scenario):
    return count(scenario, "FAILURE") == 0


def print_table(outcomes, not_applicable):
    names = list(dict.fromkeys(name for scenarios in outcomes.values() for name in scenarios))
    width = max(map(len, names))
    print(f"{'checks passed/counted':{width}}  " + "  ".join(f"{run:>12}" for run in outcomes))
    for name in names:
        cells = []
        for scenarios in outcomes.values():
            scenario = scenarios.get(name)
            if scenario is None:
                cells.append("-")
                continue
            good, bad = count(scenario, "SUCCESS"), count(scenario, "FAILURE")
            text = f"{good}/{good + bad}" if good + bad else "skipped"
            warned = count(scenario, "WARNING")
            cells.append(("FAILED " if bad else "") + text + f" +{warned}w" * (warned > 0))
        print(f"{name:{width}}  " + "  ".join(f"{cell:>12}" for cell in cells))
    for name in not_applicable:
        print(f"{name:{width}}  not applicable: an extension Glovebox does not offer")


def score(scenarios):
    return f"{sum(map(passed, scenarios))}/{len(scenarios)}"


def print_totals(outcomes):
    of_sets = [scenario for run in ("2025-11-25", "2026-07-28")
               for scenario in outcomes[run].values()]
    print(f"\n{score([s for s in of_sets if s.required])} required, "
          f"{score([s for s in of_sets if not s.required])} unscored, {score(of_sets)}; "
          f"0.1.16 {score(outcomes['0.1.16'].values())}; "
          f"2025-06-18 {score(outcomes['2025-06-18'].values())}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", required=True)
    parser.add_argument("--baseline")
    parser.add_argument("server", nargs="+")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.results, ignore_errors=True)
    os.makedirs(arguments.results)

    server = Server(arguments.server, os.path.join(arguments.results, "server.log"))
    problems = []
    try:
        url = server.url()
        outcomes = {}
        for run in RUNS:
            outcomes[run.name] = run_suite(run, url, arguments.results)
            server.check_alive()
        everything = subprocess.run(suite(RUNS[0], "list", "--server"), check=True, text=True,
                                    stdout=subprocess.PIPE, timeout=SUITE_SECONDS_MAX).stdout
        print_table(outcomes, re.findall(r"- (sep-2640-skills-\S+)", everything))
        print_totals(outcomes)
        problems = judge(outcomes, read_baseline(arguments.baseline), arguments.baseline is None)
        server.stop()
    except (Failure, subprocess.SubprocessError) as failure:
        problems.append(str(failure))
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    if problems:
        print("\n" + "\n".join(problems) + f"\n\n{len(problems)} problems. The server said:")
        print(server.log()[-4000:].decode(errors="replace"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
