"""What the protocol costs, beside a bare HTTP server and another MCP server, in one run.

    bench_protocol.py PROGRAMS GLOVEBOX RESULTS.json [SECONDS]

PROGRAMS is the folder of beast_hello, conformance_fixture and drive_stdio; GLOVEBOX the product.
Every server is loaded in turn, round after round, so that a noisy machine is noisy for all of them;
the figures are medians over the rounds. The bars are in bars.py.
"""

import contextlib
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
EVERYTHING = os.path.join(BENCH, "node_modules/@modelcontextprotocol/server-everything",
                          "dist/index.js")
ROUNDS = 3
CONNECTIONS = (1, 16, 64)
STDIO_IN_FLIGHT = 10
FIRST_REPLIES = 30
ADDRESS = re.compile(rb"127\.0\.0\.1:(\d+)|port (\d+)|^(\d+)$", re.MULTILINE)

JSON_HEADERS = {"Content-Type": "application/json",
                "Accept": "application/json, text/event-stream"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def tool_call(name, arguments, request_id=1000, meta=None):
    params = {"name": name, "arguments": arguments}
    if meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


@contextlib.contextmanager
def running(command, environment=None):
    """A server that names its address, or just its port; yields (process, port)."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, **(environment or {})})
        try:
            deadline = time.monotonic() + 30
            while True:
                log.seek(0)
                if match := ADDRESS.search(log.read()):
                    break
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise RuntimeError(f"{command[0]} did not start: {log.read().decode()}")
                time.sleep(0.01)
            yield process, int(match.group(match.lastindex))
        finally:
            process.terminate()
            process.wait(30)


def post(port, headers, message):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response, body


def open_session(port):
    """The headers of a legacy session."""
    response, body = post(port, JSON_HEADERS, INITIALIZE)
    if response.status != 200:
        raise RuntimeError(f"initialize: {response.status} {body}")
    headers = {**JSON_HEADERS, "Mcp-Session-Id": response.headers["Mcp-Session-Id"],
               "MCP-Protocol-Version": "2025-11-25"}
    post(port, headers, INITIALIZED)
    return headers


class HttpRow:
    """One server under HTTP load, and what was measured at each number of connections."""

    def __init__(self, name, port, headers, message, expected):
        self.name, self.port, self.headers, self.message = name, port, headers, message
        self.samples = {connections: [] for connections in CONNECTIONS}
        response, body = post(port, headers, message)
        if response.status != 200 or expected not in body:
            raise RuntimeError(f"{name}: {response.status} {body}")

    def load(self, connections, seconds):
        environment = {**os.environ, "BENCH_BODY": json.dumps(self.message),
                       "BENCH_HEADERS": "\n".join(f"{name}: {value}"
                                                  for name, value in self.headers.items())}
        output = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s",
             os.path.join(BENCH, "load.lua"), f"http://127.0.0.1:{self.port}/mcp"],
            env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout
        sample = json.loads(output.strip().split("\n")[-1])
        if sample["failures"] or not sample["requests"]:
            raise RuntimeError(f"{self.name} at {connections}: {sample}")
        self.samples[connections].append(sample)


def median(samples, key):
    return statistics.median(sample[key] for sample in samples)


def bench_http(programs, seconds):
    """{name: {connections: {rps, p50_ms, p99_ms}}}"""
    with contextlib.ExitStack() as stack:
        def start(command, environment=None):
            return stack.enter_context(running(command, environment))[1]

        beast = start([os.path.join(programs, "beast_hello")])
        fixture = start([os.path.join(programs, "conformance_fixture"), "--port", "0"])
        everything = start(["node", "--require", os.path.join(BENCH, "bind_loopback.cjs"),
                            EVERYTHING, "streamableHttp"], {"PORT": str(free_port())})
        modern = {**JSON_HEADERS, "MCP-Protocol-Version": "2026-07-28",
                  "Mcp-Method": "tools/call", "Mcp-Name": "noop"}
        noop = tool_call("noop", {}, meta=META)
        rows = [
            HttpRow("raw Beast hello", beast, modern, noop, ""),
            HttpRow("glovebox noop, modern", fixture, modern, noop, '"ok"'),
            HttpRow("glovebox noop, legacy session", fixture, open_session(fixture),
                    tool_call("noop", {}), '"ok"'),
            HttpRow("server-everything echo, legacy session", everything, open_session(everything),
                    tool_call("echo", {"message": "ok"}), "Echo: ok"),
        ]
        for row in rows:
            row.load(16, 1)  # warm: compilers, caches, buffers
            row.samples[16].clear()
        for number in range(ROUNDS):
            say(f"HTTP load, round {number + 1} of {ROUNDS} ")
            for connections in CONNECTIONS:
                for row in rows:
                    row.load(connections, seconds)
        return {row.name: {connections: {key: median(samples, key)
                                         for key in ("rps", "p50_ms", "p99_ms")}
                           for connections, samples in row.samples.items()} for row in rows}


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def drive(programs, *arguments):
    output = subprocess.run([os.path.join(programs, "drive_stdio"), *arguments], check=True,
                            text=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def write_lines(folder, name, *messages):
    """A file of messages for the driver; the id 1000 becomes the one it counts."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        for message in messages:
            file.write(json.dumps(message).replace('"id": 1000', '"id": @ID@') + "\n")
    return path


def bench_stdio(programs, glovebox, seconds):
    """({name: {rps, p50_ms, p99_ms}}, first reply)"""
    with tempfile.TemporaryDirectory() as folder:
        nothing = write_lines(folder, "nothing")
        opening = write_lines(folder, "opening", INITIALIZE, INITIALIZED)
        fixture = [os.path.join(programs, "conformance_fixture"), "--stdio"]
        rows = {
            "glovebox noop, modern":
                (nothing, tool_call("noop", {}, meta=META), fixture),
            "glovebox noop, legacy":
                (opening, tool_call("noop", {}), fixture),
            "server-everything echo, legacy":
                (opening, tool_call("echo", {"message": "ok"}), ["node", EVERYTHING, "stdio"]),
        }
        samples = {name: [] for name in rows}
        for number in range(ROUNDS):
            say(f"stdio load, round {number + 1} of {ROUNDS} ")
            for name, (prepare, message, command) in rows.items():
                samples[name].append(drive(
                    programs, "load", str(seconds), str(STDIO_IN_FLIGHT), prepare,
                    write_lines(folder, "request", message), "--", *command))
        discover = write_lines(folder, "discover", {"jsonrpc": "2.0", "id": 1000,
                                                    "method": "server/discover",
                                                    "params": {"_meta": META}})
        first = drive(programs, "first", str(FIRST_REPLIES), discover, "--", glovebox, "serve")
        return {name: {key: median(runs, key) for key in ("rps", "p50_ms", "p99_ms")}
                for name, runs in samples.items()}, first


def resident(pid):
    """(resident, of it shared with nobody) of one process, in bytes."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        fields = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.MULTILINE))
    own = int(fields["Private_Clean"]) + int(fields["Private_Dirty"])
    return int(fields["Rss"]) * 1024, own * 1024


def bench_memory(glovebox):
    """What `glovebox serve` holds without boxes: the server, and the zygote below it."""
    with running([glovebox, "serve", "--transport", "http", "--port", "0"]) as (process, port):
        modern = {**JSON_HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        for _ in range(20):
            post(port, modern, {"jsonrpc": "2.0", "id": 1, "method": "tools/list",
                                "params": {"_meta": META}})
        time.sleep(1)  # the zygote has imported what it imports
        below = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        parents = dict(map(int, line.split()) for line in below.splitlines())
        family, found = {process.pid}, []
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
            found += sorted(more)
        return {"server_rss": resident(process.pid)[0], "server_own": resident(process.pid)[1],
                "others": [{"name": name_of(pid), "rss": resident(pid)[0], "own": resident(pid)[1]}
                           for pid in found]}


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip()


def say(text):
    """How far we are, on a line that the next one replaces."""
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main():
    programs, glovebox, results = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 2
    web = bench_http(programs, max(int(seconds), 1))
    stdio, first = bench_stdio(programs, glovebox, seconds)
    memory = bench_memory(glovebox)
    say("")
    os.makedirs(os.path.dirname(results) or ".", exist_ok=True)
    with open(results, "w", encoding="utf-8") as file:
        json.dump({"http": web, "stdio": stdio, "first_reply": first, "memory": memory}, file,
                  indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
