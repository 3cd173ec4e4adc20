"""Every setting does something: for each one, what a server with it does and one without does not.

The list of settings is the program's own (--print-config), so a new one without a check here fails.
"""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from http_server import GLOVEBOX, SOURCES, Server, environment, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

TOKEN = "t" * 32
# Shows only on hosts that lack something: host_modes_test.py takes it away.
ELSEWHERE = {"allow_degraded"}
HOLD = "import time; time.sleep(1.5)"


def stdio(**variables):
    server = StdioServer([GLOVEBOX, "serve", *SOURCES], environment(**variables))
    server.ask("initialize", INITIALIZE)
    return server


def execute(code, arguments=None, tool="execute_code", **variables):
    """The answer of one call to a server with these settings."""
    with stdio(**variables) as server:
        arguments = {"code": code, **(arguments or {})} if tool == "execute_code" else arguments
        answer = server.ask("tools/call", {"name": tool, "arguments": arguments})
        return answer.get("structuredContent") or answer["content"][0]["text"]


def post(server, headers=None, body=None):
    """The status of one request with headers of one's own."""
    with server.connect() as connection:
        connection.request("POST", server.path, body or "{}", {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            **(headers or {})})
        return connection.getresponse().status


class EverySetting(unittest.TestCase):
    def test_all_of_them_are_here(self):
        printed = run(*SOURCES, "--print-config").stdout
        keys = re.findall(r"^(?:# )?(\w+)(?: =| is set)", printed, re.M)
        checked = {name[len("test_key_"):] for name in dir(self) if name.startswith("test_key_")}
        self.assertEqual(sorted(set(keys) - checked - ELSEWHERE), [], "settings without a check")
        self.assertEqual(sorted(checked - set(keys)), [], "checks without a setting")

    # --- general

    def test_key_transport(self):
        with Server() as server:
            self.assertIn("serving MCP on http://", server.said)

    def test_key_log_level(self):
        asked = "".join(json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                    "params": params}) + "\n"
                        for number, (method, params) in enumerate(
                            [("initialize", INITIALIZE), ("tools/list", {})], 1))
        said = run(*SOURCES, stdin=asked, SANDBOX_LOG_LEVEL="debug").stderr
        self.assertIn("tools/list ok", said)
        self.assertNotIn("tools/list", run(*SOURCES, stdin=asked).stderr)

    # --- containers

    def contained(self, **variables):
        """What a program in a container says of its kernel, and of where it ran."""
        answer = execute("import os; print(os.uname().release)",
                         {"use_container": True, "profile": "full"}, **variables)
        return answer["stdout"].strip(), answer

    def test_key_enabled(self):
        self.assertIn("SANDBOX_ENABLE_CONTAINER_MODE=true", self.contained()[1]["error"])
        kernel, answer = self.contained(SANDBOX_ENABLE_CONTAINER_MODE="true")
        self.assertEqual(answer["status"], "completed", answer)
        self.assertNotEqual(kernel, os.uname().release, "gVisor has a kernel of its own")

    def test_key_runtime(self):
        kernel, answer = self.contained(SANDBOX_ENABLE_CONTAINER_MODE="true",
                                        SANDBOX_CONTAINER_RUNTIME="runc")
        self.assertEqual(kernel, os.uname().release, answer)
        self.assertIn("runc", answer["container"])

    def test_key_image(self):
        _, answer = self.contained(SANDBOX_ENABLE_CONTAINER_MODE="true",
                                   SANDBOX_CONTAINER_IMAGE="/nowhere")
        self.assertIn("/nowhere", answer["error"])

    def test_key_warm(self):
        for number in ("0", "1"):
            info = execute("", {}, tool="get_sandbox_info", SANDBOX_ENABLE_CONTAINER_MODE="true",
                           SANDBOX_WARM_CONTAINERS=number)
            self.assertEqual(info["container_mode"]["warm_containers"], int(number))

    # --- http

    def test_key_host(self):
        with Server(SANDBOX_HOST="127.0.0.2") as server:
            self.assertIn("http://127.0.0.2:", server.said)

    def test_key_port(self):
        with Server() as free:
            port = free.port
        with Server("--port", str(port)) as server:
            self.assertEqual(server.port, port)

    def test_key_path(self):
        with Server(SANDBOX_PATH="/python") as server:
            self.assertEqual(server.path, "/python")
            self.assertEqual(server.ask("tools/list")[0], 200)

    def test_key_api_token(self):
        with Server(SANDBOX_API_TOKEN=TOKEN) as server:
            self.assertEqual(server.ask("tools/list")[0], 401)
            self.assertEqual(server.ask("tools/list", token=TOKEN)[0], 200)

    def test_key_token_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"ann {TOKEN}\n")
            file.flush()
            os.chmod(file.name, 0o600)
            with Server(SANDBOX_API_TOKEN_FILE=file.name) as server:
                self.assertEqual(server.ask("tools/list")[0], 401)
                self.assertEqual(server.ask("tools/list", token=TOKEN)[0], 200)

    def test_key_server_names(self):
        with Server() as server:
            self.assertEqual(post(server, {"Host": "box.example"}), 403)
        with Server(SANDBOX_SERVER_NAMES="box.example") as server:
            self.assertNotEqual(post(server, {"Host": "box.example"}), 403)

    def test_key_allowed_origins(self):
        origin = {"Origin": "https://app.example"}
        with Server() as server:
            self.assertEqual(post(server, origin), 403)
        with Server(SANDBOX_ALLOWED_ORIGINS="https://app.example") as server:
            self.assertNotEqual(post(server, origin), 403)

    def refused_connections(self, **variables):
        with Server(**variables) as server:
            held = [server.connect() for _ in range(2)]
            with held[0] as first, held[1] as second:
                first.connect()
                time.sleep(0.2)
                second.connect()
                try:
                    second.request("GET", "/healthz")
                    return second.getresponse().status != 200
                except OSError:
                    return True
                except Exception:  # noqa: BLE001: http.client's word for a closed connection
                    return True

    def test_key_max_connections(self):
        self.assertFalse(self.refused_connections())
        self.assertTrue(self.refused_connections(SANDBOX_MAX_CONNECTIONS="1"))

    def test_key_max_connections_per_peer(self):
        self.assertTrue(self.refused_connections(SANDBOX_MAX_CONNECTIONS_PER_PEER="1"))

    def sessions_alive(self, **variables):
        with Server(**variables) as server:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                               "params": INITIALIZE})
            for _ in range(3):
                self.assertEqual(post(server, body=body), 200)
            return server.metric("glovebox_http_sessions")

    def test_key_max_sessions(self):
        self.assertEqual(self.sessions_alive(), 3)
        self.assertEqual(self.sessions_alive(SANDBOX_MAX_SESSIONS="1"), 1)

    def test_key_max_body(self):
        with Server(SANDBOX_MAX_BODY_SIZE="64k") as server:
            self.assertEqual(post(server, body=" " * 70_000), 413)

    def test_key_drain_time(self):
        with Server(SANDBOX_DRAIN_TIME="0") as server:
            server.process.send_signal(signal.SIGTERM)
            self.assertIn("at most 0 s", server.process.stderr.read())

    # --- profiles

    def test_key_default(self):
        self.assertFalse(execute("import os")["success"])
        self.assertTrue(execute("import os", SANDBOX_DEFAULT_PROFILE="full")["success"])

    def test_key_full(self):
        full = {"profile": "full"}
        self.assertTrue(execute("import os", full)["success"])
        self.assertIn("'full' is not enabled",
                      execute("import os", full, SANDBOX_ENABLE_FULL="false"))

    def test_key_data_science(self):
        self.assertEqual(execute("import numpy")["security_event"], "blocked_import")
        answer = execute("import numpy", SANDBOX_ENABLE_DATA_SCIENCE="true")
        self.assertNotIn("security_event", answer)

    def test_key_filesystem(self):
        code = "open('/work/x', 'w').write('y')"
        self.assertEqual(execute(code)["status"], "violated")
        self.assertTrue(execute(code, SANDBOX_ENABLE_FILESYSTEM="true")["success"])

    def test_key_read_paths(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o755)
            pathlib.Path(folder, "note").write_text("seen")
            code = f"open({folder!r} + '/note').read()"
            settings = {"SANDBOX_ENABLE_FILESYSTEM": "true"}
            self.assertEqual(execute(code, **settings)["error_type"], "FileNotFoundError")
            self.assertEqual(execute(code, SANDBOX_READ_PATHS=folder, **settings)["result"], "seen")
            refused = execute(code.replace("/note')", "/new', 'w')"), SANDBOX_READ_PATHS=folder,
                              **settings)
            self.assertFalse(refused["success"])

    def test_key_write_paths(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o777)
            code = f"open({folder!r} + '/out', 'w').write('made')"
            answer = execute(code, SANDBOX_ENABLE_FILESYSTEM="true", SANDBOX_WRITE_PATHS=folder)
            self.assertTrue(answer["success"], answer.get("error"))
            self.assertEqual(pathlib.Path(folder, "out").read_text(), "made")

    def test_key_network(self):
        network = {"profile": "network"}
        self.assertIn("'network' is not enabled", execute("1", network))
        answer = execute("import socket; 1", network, SANDBOX_ENABLE_NETWORK="true")
        self.assertTrue(answer["success"], answer.get("error"))

    def test_key_allowed_hosts(self):
        code = ("import urllib.request, urllib.error\n"
                "try: urllib.request.urlopen('http://a.example/', timeout=20)\n"
                "except urllib.error.HTTPError as error: print(error.code, error.read())\n")
        settings = {"SANDBOX_ENABLE_NETWORK": "true"}
        self.assertIn("no rule names a.example",
                      execute(code, {"profile": "network"}, **settings)["stdout"])
        self.assertIn("502", execute(code, {"profile": "network"},
                                     SANDBOX_ALLOWED_HOSTS="a.example", **settings)["stdout"])

    # --- python

    def test_key_allowed_imports(self):
        settings = {"SANDBOX_ALLOWED_IMPORTS": "json, platform"}
        self.assertTrue(execute("import json, platform", **settings)["success"])
        self.assertFalse(execute("import math", **settings)["success"])

    def test_key_packages(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o755)
            pathlib.Path(folder, "mine.py").write_text("answer = 42\n")
            pathlib.Path(folder, "evil.pth").write_text("import os; os.abort()\n")
            code, full = "import mine; mine.answer", {"profile": "full"}
            self.assertEqual(execute(code, full)["error_type"], "ModuleNotFoundError")
            self.assertEqual(execute(code, full, SANDBOX_PYTHON_PATH=folder)["result"], 42)

    def test_key_return_mode(self):
        arguments = {"python_code": "1 + 1"}
        self.assertTrue(execute("", arguments, "run_python_code").startswith("<status>"))
        answer = execute("", arguments, "run_python_code", SANDBOX_RETURN_MODE="json")
        self.assertEqual(json.loads(answer)["return_value"], 2)

    # --- limits

    def test_key_timeout(self):
        self.assertEqual(execute("while True: pass", SANDBOX_TIMEOUT="1")["timeout"], 1)

    def test_key_max_timeout(self):
        self.assertIn("from 1 to 5", execute("1", {"timeout": 6}, SANDBOX_TIMEOUT="5",
                                             SANDBOX_MAX_TIMEOUT="5"))

    def test_key_memory(self):
        code = "x = bytearray(80 << 20)"
        self.assertTrue(execute(code)["success"])
        self.assertIn("memory", execute(code, SANDBOX_DEFAULT_MEMORY_LIMIT="32m")["limits_hit"])

    def test_key_max_memory(self):
        self.assertIn("16m to 256m", execute("1", {"memory_limit": "1g"},
                                             SANDBOX_MAX_MEMORY_LIMIT="256m"))

    def test_key_max_output(self):
        answer = execute("print('x' * 100)", SANDBOX_MAX_OUTPUT_SIZE="10")
        self.assertEqual(answer["stdout"], "x" * 10 + "\n[Output truncated]")

    def test_key_max_code(self):
        self.assertIn("Code too large", execute("1 + 1 + 1", SANDBOX_MAX_CODE_SIZE="5")["error"])

    def test_key_boxes(self):
        with Server(SANDBOX_MAX_BOXES="3") as server:
            self.assertEqual(server.metric("glovebox_boxes_max"), 3)

    def test_key_queue(self):
        def messages(**variables):
            with stdio(SANDBOX_MAX_BOXES="1", **variables) as server:
                call = {"name": "execute_code", "arguments": {"code": "sum(range(10**6))"}}
                answers = server.ask_together("tools/call", [call] * 3)
                return " ".join(answer["structuredContent"].get("error") or "-"
                                for answer in answers)

        self.assertEqual(messages(), "- - -")
        self.assertIn("setting `queue`", messages(SANDBOX_MAX_QUEUE="1"))

    # --- pool

    def waiting_boxes(self, **variables):
        """Of a server that nobody has asked anything."""
        with Server(**variables) as server:
            server.ask("tools/list")
            time.sleep(1.5)
            parents = {}
            inits = []
            for status in pathlib.Path("/proc").glob("[0-9]*/status"):
                try:
                    fields = dict(line.split(":\t", 1) for line in
                                  status.read_text().splitlines() if ":\t" in line)
                except OSError:  # it has just ended
                    continue
                parents[int(fields["Pid"])] = int(fields["PPid"])
                if fields["Name"] == "glovebox-init":
                    inits.append(int(fields["Pid"]))

            def descends(pid):
                while pid in parents:
                    pid = parents[pid]
                    if pid == server.process.pid:
                        return True
                return False

            return sum(map(descends, inits))

    def test_key_warm_boxes(self):
        self.assertEqual(self.waiting_boxes(SANDBOX_WARM_BOXES="0"), 0)
        self.assertEqual(self.waiting_boxes(SANDBOX_WARM_BOXES="3"), 3)

    def test_key_boxes_per_interpreter(self):
        def seeds(**variables):
            with stdio(**variables) as server:
                call = {"name": "execute_code", "arguments": {"code": "hash('seed')"}}
                return {server.ask("tools/call", call)["structuredContent"]["result"]
                        for _ in range(3)}

        self.assertEqual(len(seeds()), 1)
        self.assertEqual(len(seeds(SANDBOX_BOXES_PER_INTERPRETER="1")), 3)

    # --- audit

    def audit(self, folder, calls=1, **variables):
        path = pathlib.Path(folder, "audit.jsonl")
        with stdio(SANDBOX_AUDIT_LOG=str(path), **variables) as server:
            for number in range(calls):
                server.ask("tools/call", {"name": "execute_code",
                                          "arguments": {"code": f"print({number})"}})
        return path

    def verify(self, *paths):
        return subprocess.run([GLOVEBOX, "audit-log", "verify", *map(str, paths)],
                              capture_output=True, text=True)

    def test_key_log(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.audit(folder, 3)
            lines = path.read_text().splitlines()
            self.assertEqual([json.loads(line)["status"] for line in lines], ["completed"] * 3)
            self.assertEqual(json.loads(lines[0])["code_sha256"],
                             hashlib.sha256(b"print(0)").hexdigest())
            self.assertEqual(self.verify(path).returncode, 0)
            path.write_text("\n".join([lines[0], lines[2]]) + "\n")
            broken = self.verify(path)
            self.assertEqual(broken.returncode, 1)
            self.assertIn("record 2 was removed", broken.stdout)
            path.write_text("\n".join(lines).replace("completed", "cancelled", 1) + "\n")
            self.assertIn("line 1: changed", self.verify(path).stdout)

    def test_key_code(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertNotIn("code", json.loads(self.audit(folder).read_text()))
        with tempfile.TemporaryDirectory() as folder:
            line = json.loads(self.audit(folder, SANDBOX_AUDIT_LOG_CODE="true").read_text())
            self.assertEqual(line["code"], "print(0)")

    def test_key_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.audit(folder, 5, SANDBOX_AUDIT_LOG_SIZE="1k")
            aside = sorted(pathlib.Path(folder).glob("audit.jsonl.*"))
            self.assertNotEqual(aside, [])
            self.assertEqual(self.verify(path, *aside).returncode, 0)

    def test_key_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.audit(folder, 8, SANDBOX_AUDIT_LOG_SIZE="1k", SANDBOX_AUDIT_LOG_FILES="1")
            self.assertEqual(sorted(entry.name for entry in pathlib.Path(folder).iterdir()),
                             [path.name, path.name + ".1"])

    # --- boxes

    def test_key_cgroup_parent(self):
        ended = run(*SOURCES, SANDBOX_CGROUP_PARENT="/sys/fs/cgroup/no/such/group")
        self.assertNotEqual(ended.returncode, 0)

    # --- fairness

    def statuses(self, count, **variables):
        with Server(**variables) as server:
            return [server.ask("tools/list")[0] for _ in range(count)]

    def test_key_rate(self):
        self.assertNotIn(429, self.statuses(4, SANDBOX_RATE_LIMIT="0", SANDBOX_RATE_BURST="1"))
        self.assertIn(429, self.statuses(4, SANDBOX_RATE_LIMIT="1", SANDBOX_RATE_BURST="1"))

    def test_key_burst(self):
        self.assertNotIn(429, self.statuses(4, SANDBOX_RATE_LIMIT="1", SANDBOX_RATE_BURST="10"))

    def test_key_max_concurrent(self):
        def second_status(**variables):
            with Server(**variables) as server, server.connect() as held:
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                    "name": "execute_code", "arguments": {"code": HOLD}, "_meta": {
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": {}}}})
                held.request("POST", server.path, body, {
                    "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
                    "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
                    "Mcp-Name": "execute_code"})
                time.sleep(0.4)
                return server.ask("tools/call", {"name": "execute_code",
                                                 "arguments": {"code": "1"}},
                                  name="execute_code")[0]

        self.assertEqual(second_status(), 200)
        self.assertEqual(second_status(SANDBOX_MAX_CONCURRENT="1"), 429)


if __name__ == "__main__":
    unittest.main()
