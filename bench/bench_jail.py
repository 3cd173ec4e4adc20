"""What the jail costs beside a bare start and other jails, in one run.

    bench_jail.py PROGRAMS GLOVEBOX RESULTS.json [ROUNDS]

PROGRAMS is the folder of pipe_relay; GLOVEBOX the product. Launchers take turns, start by start, so
that a noisy machine is noisy for all of them. The bars are in bars.py.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(BENCH, "node_modules")
ENTRY = os.path.join(MODULES, "@modelcontextprotocol/server-filesystem/dist/index.js")
SRT = os.path.join(MODULES, ".bin/srt")
NODE = "/usr/bin/node"
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"}}}).encode() + b"\n"
CALLS = 2000


def launchers(glovebox, folder):
    """name -> the command that starts what follows it."""
    found = {
        "bare": [],
        "glovebox run": [glovebox, "run", "--policy", "filesystem", "--"],
    }
    if shutil.which("bwrap"):
        found["bubblewrap --unshare-all"] = [
            "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--ro-bind",
            "/etc", "/etc", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
            "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
            "/tmp", "--ro-bind", MODULES, MODULES, "--bind", folder, folder, "--"]
    if os.path.exists(SRT):
        settings = os.path.join(folder, "srt.json")
        with open(settings, "w", encoding="utf-8") as file:
            json.dump({"network": {"allowedDomains": [], "deniedDomains": []},
                       "filesystem": {"denyRead": [], "allowWrite": [folder], "denyWrite": []}},
                      file)
        found["srt (sandbox-runtime)"] = [SRT, "--settings", settings, "--"]
    return found


def start_ms(command):
    """From the start of a server to its answer to `initialize`; nothing when there is none."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        try:
            process.stdin.write(INITIALIZE)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        end = time.perf_counter()
        process.terminate()
    return (end - begin) * 1000 if b'"serverInfo"' in answer else None


def run_ms(command):
    begin = time.perf_counter()
    code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode
    return (time.perf_counter() - begin) * 1000 if code == 0 else None


def in_turns(rounds, measure, commands):
    values = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            value = measure(command)
            if value is not None and turn > 0:  # the first warms the page cache
                values[name].append(value)
    return {name: {"p50_ms": statistics.median(list_), "n": len(list_)}
            for name, list_ in values.items() if list_}


def call_us(process, count):
    times = []
    for number in range(count):
        request = (b'{"jsonrpc":"2.0","method":"tools/call","id":%d,"params":{"name":"echo"}}\n'
                   % number)
        begin = time.perf_counter()
        process.stdin.write(request)
        process.stdin.flush()
        process.stdout.readline()
        times.append((time.perf_counter() - begin) * 1e6)
    return times


def relay_us(programs, glovebox):
    """p50 of a call, in microseconds; the three take turns, a few hundred calls at a time. All on
    one CPU: whether the kernel wakes somebody on another one, and how long that takes, differs by
    more than what is measured."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cpus)})
    echo = ["/usr/bin/python3", "-I", "-S", os.path.join(BENCH, "echo_server.py")]
    commands = {"bare": echo, "plain pipe relay": [os.path.join(programs, "pipe_relay"), *echo],
                "glovebox run": [glovebox, "run", "--", *echo]}
    processes = {name: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                 for name, command in commands.items()}
    times = {name: [] for name in commands}
    for process in processes.values():
        call_us(process, 50)
    for _ in range(10):
        for name, process in processes.items():
            times[name] += call_us(process, CALLS // 10)
    for process in processes.values():
        process.stdin.close()
        process.wait(10)
    os.sched_setaffinity(0, cpus)
    return {name: {"p50_us": statistics.median(list_)} for name, list_ in times.items()}


def main():
    programs, glovebox, output = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        ways = launchers(glovebox, folder)
        server = [NODE, ENTRY, folder]
        jail = {
            "start": in_turns(rounds, start_ms,
                              {name: [*way, *server] for name, way in ways.items()}),
            "true": in_turns(rounds, run_ms,
                             {name: [*way, "/bin/true"] for name, way in ways.items()}),
            "relay": relay_us(programs, glovebox),
        }
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"jail": jail}, file, indent=1)


main()
