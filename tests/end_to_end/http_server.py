"""A `glovebox serve --transport http` for tests, and a client of it on the standard library."""
import contextlib
import http.client
import json
import os
import re
import subprocess

GLOVEBOX = os.environ["GLOVEBOX"]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
TASKS = dict(META, **{"io.modelcontextprotocol/clientCapabilities":
                      {"extensions": {"io.modelcontextprotocol/tasks": {}}}})
SOURCES = ("--config", "", "--env-file", "")  # nothing of this machine


def environment(**variables):
    """Ours without anybody's SANDBOX_*."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    return {**ours, **variables}


def run(*arguments, stdin="", **variables):
    """`glovebox serve` to its end: a refusal, --print-config, or that of its input."""
    return subprocess.run([GLOVEBOX, "serve", *arguments], input=stdin, capture_output=True,
                          text=True, timeout=60, check=False, env=environment(**variables))


class Server:
    """Up when made. `said` is its first line."""

    def __init__(self, *arguments, **variables):
        port = [] if "--port" in arguments else ["--port", "0"]
        self.process = subprocess.Popen(
            [GLOVEBOX, "serve", "--transport", "http", *port, *SOURCES, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment(**variables))
        self.said = self.process.stderr.readline()
        address = re.search(r"http://([^/]+):(\d+)(/\S*)", self.said)
        if not address:
            self.close()
            raise AssertionError(f"the server did not start: {self.said}")
        self.port, self.path = int(address[2]), address[3]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
        self.process.stderr.close()

    def connect(self, timeout=60):
        return contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout))

    def get(self, path, method="GET", **headers):
        with self.connect() as connection:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def metric(self, name):
        """The value of one line of /metrics, given all that stands before it."""
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split(" ")[-1])
        raise AssertionError(f"no metric {name}")

    def ask(self, method, params=None, token=None, name=None, meta=None, connection=None):
        """One modern request. (status, headers, the JSON-RPC answer or other JSON)."""
        with contextlib.ExitStack() as stack:
            connection = connection or stack.enter_context(self.connect())
            body = {"jsonrpc": "2.0", "id": 1, "method": method,
                    "params": {**(params or {}), "_meta": meta or META}}
            headers = {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
                       "Accept": "application/json, text/event-stream", "Mcp-Method": method}
            if name:
                headers["Mcp-Name"] = name
            if token:
                headers["Authorization"] = f"Bearer {token}"
            connection.request("POST", self.path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
            if response.headers.get_content_type() == "text/event-stream":
                text = [line for line in text.splitlines() if line.startswith("data:")][-1][5:]
            return response.status, response.headers, json.loads(text) if text else None

    def call(self, tool, arguments, **options):
        """The structured content of a tool's result."""
        status, _, answer = self.ask("tools/call", {"name": tool, "arguments": arguments},
                                     name=tool, **options)
        if status != 200 or "result" not in answer:
            raise AssertionError(f"{status}: {answer}")
        return answer["result"]["structuredContent"]
