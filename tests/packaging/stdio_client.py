"""The least that asks an MCP server on standard input and output something."""

import json
import subprocess

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {},
              "clientInfo": {"name": "packaging_test", "version": "1"}}


class StdioServer:
    """A server that lives as long as the `with` block."""

    def __init__(self, command, environment):
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self._last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def kill(self):
        """Ends it as a machine out of memory would."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def send(self, method, params):
        """Asks, and does not wait for the answer."""
        self._last_id += 1
        request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def ask(self, method, params):
        """The result; raises when the answer is an error or is none."""
        return self.ask_together(method, [params])[0]

    def ask_together(self, method, all_params):
        """The results of requests that are sent at once, in the order of the requests."""
        first_id = self._last_id + 1
        for params in all_params:
            self._last_id += 1
            request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
            self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        results = {}
        for _ in all_params:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id", 0) < first_id or "result" not in answer:
                raise AssertionError(f"{method}: {answer}")
            results[answer["id"]] = answer["result"]
        return [results[number] for number in range(first_id, self._last_id + 1)]

    def ask_modern(self, method, **params):
        return self.ask(method, {**params, "_meta": MODERN})
