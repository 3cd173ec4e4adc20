"""`glovebox serve` as an operator meets it: settings, refusals, tokens, pages, tools, the end."""
import http.client
import json
import os
import signal
import tempfile
import threading
import time
import unittest

from http_server import META, SOURCES, TASKS, Server, run

TOKEN = "0123456789abcdef0123456789abcdef"
HTTP = ("--transport", "http", *SOURCES)


class Refusals(unittest.TestCase):
    """A start that must not happen: exit code, and one sentence that says why."""

    def check(self, code, words, *arguments, **variables):
        ended = run(*arguments, **variables)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertIn(words, ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertEqual(ended.stdout, "")

    def test_an_open_address_needs_a_token(self):
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            self.check(1, f"listening on {host} needs a token of at least 32 characters",
                       *HTTP, "--host", host)

    def test_a_token_must_be_long(self):
        for host in ("0.0.0.0", "127.0.0.1"):
            self.check(1, "the token has 31 characters, fewer than 32", *HTTP, "--host", host,
                       SANDBOX_API_TOKEN=TOKEN[1:])

    def test_a_token_file_is_private(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"one {TOKEN}\n")
            file.flush()
            os.chmod(file.name, 0o644)
            self.check(1, "can be read by every user", *HTTP, "--token-file", file.name)
            os.chmod(file.name, 0o600)
            file.write("two short\n")
            file.flush()
            self.check(1, "line 2: the token has 5 characters", *HTTP, "--token-file", file.name)

    def test_wrong_settings_are_usage(self):
        self.check(2, "--port is '70000': must be a whole number from 0 to 65535", *HTTP,
                   "--port", "70000")
        self.check(2, "SANDBOX_MAX_BOXES in the environment is '0': must be a whole number from 1",
                   *SOURCES, SANDBOX_MAX_BOXES="0")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("[http]\nprot = 1\n")
            file.flush()
            self.check(2, f"`http.prot` in {file.name}, line 2 is no setting", "--env-file", "",
                       "--config", file.name)
        self.assertEqual(run("--no-such-flag").returncode, 2)

    def test_an_address_that_is_taken(self):
        with Server() as server:
            self.check(1, str(server.port), *HTTP, "--port", str(server.port))


class Settings(unittest.TestCase):
    def test_precedence_of_the_real_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            toml, env = os.path.join(folder, "a.toml"), os.path.join(folder, "a.env")
            with open(toml, "w", encoding="utf-8") as file:
                file.write("[http]\nport = 1\npath = '/toml'\nhost = '127.0.0.2'\n"
                           "[limits]\nboxes = 5\n")
            with open(env, "w", encoding="utf-8") as file:
                file.write("SANDBOX_PORT=2\nSANDBOX_PATH=/env-file\nSANDBOX_HOST=127.0.0.3\n")
            ended = run("--config", toml, "--env-file", env, "--port", "4", "--print-config",
                        SANDBOX_PORT="3", SANDBOX_PATH="/environment")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("port = 4  # --port\n", ended.stdout)
        self.assertIn('path = "/environment"  # SANDBOX_PATH in the environment\n', ended.stdout)
        self.assertIn(f'host = "127.0.0.3"  # SANDBOX_HOST in {env}, line 3\n', ended.stdout)
        self.assertIn(f"boxes = 5  # `limits.boxes` in {toml}, line 6\n", ended.stdout)
        self.assertIn("timeout = 30  # default\n", ended.stdout)

    def test_the_env_file_of_the_current_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, ".env"), "w", encoding="utf-8") as file:
                file.write("SANDBOX_PORT=2\n")
            here = os.getcwd()
            os.chdir(folder)
            try:
                self.assertIn("port = 2  # SANDBOX_PORT in .env, line 1",
                              run("--config", "", "--print-config").stdout)
                self.assertIn("port = 9015  # default", run(*SOURCES, "--print-config").stdout)
            finally:
                os.chdir(here)

    def test_variables_without_effect_are_said(self):
        ended = run(*SOURCES, "--print-config", SANDBOX_TIEMOUT="1")
        self.assertIn("SANDBOX_TIEMOUT in the environment is no setting", ended.stderr)

    def test_limits_reach_the_tools(self):
        with Server("--timeout", "1", "--max-timeout", "2", "--max-output", "10",
                    SANDBOX_MAX_CODE_SIZE="200") as server:
            info = server.call("get_sandbox_info", {})
            self.assertEqual(info["timeout_seconds"], 1)
            self.assertEqual(info["max_output_size"], 10)
            late = server.call("execute_code", {"code": "while True: pass"})
            self.assertEqual(late["error"], "Execution timed out after 1 seconds (timeout)")
            cut = server.call("execute_code", {"code": "print('x' * 100)"})
            self.assertEqual(cut["stdout"], "x" * 10 + "\n[Output truncated]")
            large = server.call("execute_code", {"code": "#" * 201})
            self.assertEqual(large["error"], "Code too large (max 200 characters)")


class Stdio(unittest.TestCase):
    """The one client of a server on stdio shares it with nobody, unless a limit was asked for."""

    def answers(self, count, *arguments):
        request = {"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": META}}
        lines = "".join(json.dumps({**request, "id": id}) + "\n" for id in range(count))
        ended = run(*SOURCES, *arguments, stdin=lines)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stderr, "")
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def test_no_limit_by_default(self):
        self.assertTrue(all("result" in answer for answer in self.answers(400)))

    def test_a_limit_that_was_asked_for_is_a_readable_error(self):
        answers = self.answers(3, "--rate", "1", "--burst", "2")
        self.assertIn("result", answers[1])
        self.assertIn("rate limit reached: 1 requests per second", answers[2]["error"]["message"])


class Tokens(unittest.TestCase):
    def test_loopback_without_a_token_is_open(self):
        with Server() as server:
            self.assertIn("http://127.0.0.1:", server.said)
            self.assertEqual(server.ask("tools/list")[0], 200)

    def test_a_token_is_enforced_on_loopback_too(self):
        with Server(SANDBOX_API_TOKEN=TOKEN) as server:
            for token in (None, "x" * 32, TOKEN[:-1], TOKEN + "x", "\xe9" * 32):
                status, headers, answer = server.ask("tools/list", token=token)
                self.assertEqual(status, 401, token)
                self.assertEqual(answer, {"error": "Unauthorized"})
                self.assertEqual(headers["WWW-Authenticate"].split(" ")[0], "Bearer")
            self.assertEqual(server.ask("tools/list", token=TOKEN)[0], 200)
            self.assertEqual(server.get("/metrics")[0], 200)

    def test_an_open_address_with_a_token(self):
        with Server("--host", "0.0.0.0", SANDBOX_API_TOKEN=TOKEN) as server:
            self.assertEqual(server.get("/healthz", Host="any.example.com")[0], 200)
            self.assertEqual(server.get("/metrics")[0], 401)
            self.assertEqual(server.get("/metrics", Authorization="Bearer " + TOKEN)[0], 200)
            self.assertEqual(server.ask("tools/list")[0], 401)
            self.assertEqual(server.ask("tools/list", token=TOKEN)[0], 200)

    def test_tasks_belong_to_their_token(self):
        with tempfile.NamedTemporaryFile("w") as file:
            os.chmod(file.name, 0o600)
            file.write("one " + "1" * 32 + "\ntwo " + "2" * 32 + "\n")
            file.flush()
            with Server("--token-file", file.name) as server:
                _, _, answer = server.ask(
                    "tools/call", {"name": "execute_code", "arguments":
                                   {"code": "import time; time.sleep(60)"}},
                    name="execute_code", meta=TASKS, token="1" * 32)
                task = answer["result"]["taskId"]
                asked = {"taskId": task}
                _, _, foreign = server.ask("tasks/get", asked, name=task, meta=TASKS,
                                           token="2" * 32)
                self.assertEqual(foreign["error"]["code"], -32602)
                _, _, own = server.ask("tasks/get", asked, name=task, meta=TASKS, token="1" * 32)
                self.assertEqual(own["result"]["status"], "working")
                server.ask("tasks/cancel", asked, name=task, meta=TASKS, token="1" * 32)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_health_and_readiness(self):
        self.assertEqual(self.server.get("/healthz"), (200, "ok\n"))
        deadline = time.monotonic() + 20
        while self.server.get("/readyz")[0] != 200:
            self.assertLess(time.monotonic(), deadline, self.server.get("/readyz")[1])
            time.sleep(0.05)
        self.assertEqual(self.server.get("/readyz"), (200, "ready\n"))
        self.assertEqual(self.server.get("/healthz", method="POST")[0], 405)
        self.assertEqual(self.server.get("/nothing")[0], 404)
        self.assertEqual(self.server.get("/healthz", Host="evil.example.com")[0], 403)

    def test_metrics_count(self):
        completed = 'glovebox_executions_total{status="completed"}'
        failed = 'glovebox_executions_total{status="failed"}'
        calls = 'glovebox_requests_total{method="tools/call",outcome="ok"}'
        self.server.call("execute_code", {"code": "1"})
        before = [self.server.metric(name) for name in (completed, failed, calls)]
        self.server.call("execute_code", {"code": "1"})
        self.server.call("execute_code", {"code": "1/0"})
        self.server.ask("no/such/method")
        after = [self.server.metric(name) for name in (completed, failed, calls)]
        self.assertEqual([b - a for a, b in zip(before, after)], [1, 1, 2])
        text = self.server.get("/metrics")[1]
        self.assertNotIn("no/such/method", text)
        self.assertGreaterEqual(self.server.metric("glovebox_execution_seconds_count"), 2)
        self.assertEqual(self.server.metric("glovebox_boxes_max"), 16)
        self.assertGreaterEqual(self.server.metric("glovebox_http_connections"), 1)

    def test_running_boxes_show(self):
        thread = threading.Thread(target=self.server.call, args=(
            "execute_code", {"code": "import time; time.sleep(1)"}))
        thread.start()
        deadline = time.monotonic() + 10
        while self.server.metric("glovebox_boxes_running") < 1:
            self.assertLess(time.monotonic(), deadline)
        thread.join()


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def validate(self, code):
        return self.server.call("validate_code", {"code": code})

    def test_they_are_listed(self):
        _, _, answer = self.server.ask("tools/list")
        self.assertEqual([tool["name"] for tool in answer["result"]["tools"]],
                         ["execute_code", "validate_code", "get_sandbox_info", "list_capabilities",
                          "run_python_code"])

    def test_validation_by_the_real_compiler(self):
        good = self.validate("x = 1 + 1")
        self.assertTrue(good["valid"] and good["validation"]["compiled"])
        self.assertIsNone(good["warnings"])
        bad = self.validate("\nx = = 1")
        self.assertFalse(bad["valid"] or bad["validation"]["valid"])
        self.assertEqual(bad["error"], "Syntax error: invalid syntax (<sandbox>, line 2)")
        self.assertEqual((bad["line"], bad["offset"], bad["text"].strip()), (2, 5, "x = = 1"))
        self.assertTrue(self.validate("import asyncio\nawait asyncio.sleep(0)")["valid"])
        self.assertFalse(self.validate("return 1")["valid"])
        self.assertFalse(self.validate("if 1:\n\tx\n        y")["valid"])
        nul = self.validate("x = 1\0")
        self.assertEqual((nul["valid"], nul["line"], nul["text"]), (False, None, None))
        self.assertIn("Syntax error: ", nul["error"])

    def test_validation_runs_nothing_and_survives_the_compiler(self):
        self.assertTrue(self.validate("raise SystemExit(3)")["valid"])
        self.assertFalse(self.validate("import os\nos.abort()")["valid"])
        for code in ("(" * 90_000, "-" * 90_000 + "1", "x = 1" + "+1" * 45_000,
                     "a." * 45_000 + "b"):
            verdict = self.validate(code)
            self.assertEqual(verdict["valid"], verdict["validation"]["valid"])
        self.assertTrue(self.validate("1")["valid"])

    def test_what_is_installed_is_what_can_be_imported(self):
        info = self.server.call("get_sandbox_info", {})
        self.assertGreaterEqual(len(info["allowed_imports"]["safe_stdlib"]), 40)
        self.assertEqual(info["security_capabilities"]["network_enabled"], False)
        self.assertIn("hasattr", info["safe_builtins"])
        missing = {name for profile in info["security_profiles"].values()
                   for name in profile["not_installed"]}
        modules = [module for kind in info["allowed_imports"].values() for module in kind
                   if module not in missing]
        code = "\n".join(f"import {module}" for module in modules)
        ran = self.server.call("execute_code", {"code": code, "memory_limit": "1g"})
        self.assertTrue(ran["success"], ran.get("error"))
        ran = self.server.call("execute_code", {"code": "import sys; sys.version",
                                                "profile": "full"})
        self.assertIn(info["python_version"], ran["result"])
        packages = {package["name"].lower(): package["version"] for package in info["packages"]}
        if "numpy" not in missing:
            ran = self.server.call("execute_code", {"code": "import numpy; numpy.__version__",
                                                    "profile": "full"})
            self.assertEqual(packages["numpy"], ran["result"])
        _, _, answer = self.server.ask("resources/read", {"uri": "glovebox://sandbox-info"},
                                       name="glovebox://sandbox-info")
        self.assertEqual(json.loads(answer["result"]["contents"][0]["text"]), info)

    def test_a_long_run_becomes_a_task(self):
        started = time.monotonic()
        _, _, answer = self.server.ask(
            "tools/call", {"name": "execute_code", "arguments": {
                "code": "import time\nprint('up', flush=True)\ntime.sleep(2.5)\n'made it'"}},
            name="execute_code", meta=TASKS)
        task = answer["result"]
        self.assertEqual(task["resultType"], "task")
        self.assertLess(time.monotonic() - started, 2.4)
        deadline = time.monotonic() + 20
        while task["status"] == "working":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
            _, _, answer = self.server.ask("tasks/get", {"taskId": task["taskId"]},
                                           name=task["taskId"], meta=TASKS)
            task = answer["result"]
        self.assertEqual(task["status"], "completed")
        self.assertEqual(task["result"]["structuredContent"]["result"], "made it")

    def test_a_cancelled_task_kills_its_box(self):
        cancelled = 'glovebox_executions_total{status="cancelled"}'
        before = self.server.metric(cancelled)
        _, _, answer = self.server.ask(
            "tools/call", {"name": "execute_code", "arguments": {"code": "while True: pass"}},
            name="execute_code", meta=TASKS)
        task = answer["result"]["taskId"]
        self.server.ask("tasks/cancel", {"taskId": task}, name=task, meta=TASKS)
        deadline = time.monotonic() + 10
        while self.server.metric(cancelled) == before:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_closing_the_connection_kills_the_box(self):
        cancelled = 'glovebox_executions_total{status="cancelled"}'
        before = self.server.metric(cancelled)
        with self.server.connect(timeout=1) as connection:
            with self.assertRaises(TimeoutError):
                self.server.ask("tools/call", {"name": "execute_code", "arguments":
                                               {"code": "while True: pass"}},
                                name="execute_code", connection=connection)
        deadline = time.monotonic() + 10
        while self.server.metric(cancelled) == before:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


class TheEnd(unittest.TestCase):
    def begin(self, server, code):
        """A call in the background; its result appears in the list."""
        results = []

        def call():
            try:
                results.append(server.call("execute_code", {"code": code}))
            except (http.client.HTTPException, OSError) as error:
                results.append(error)

        running = server.metric("glovebox_boxes_running")
        thread = threading.Thread(target=call)
        thread.start()
        deadline = time.monotonic() + 10
        while server.metric("glovebox_boxes_running") <= running:
            self.assertLess(time.monotonic(), deadline)
        return thread, results

    def ready(self, server):
        while server.get("/readyz")[0] != 200:
            time.sleep(0.05)
        while server.metric("glovebox_boxes_running") > 0:
            time.sleep(0.05)

    def test_sigterm_lets_a_running_execution_finish(self):
        with Server() as server:
            self.ready(server)
            thread, results = self.begin(server, "import time; time.sleep(1.5); 'finished'")
            server.process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + 5
            while True:  # nobody new is let in
                try:
                    server.get("/healthz")
                except (ConnectionError, http.client.HTTPException):
                    break
                self.assertLess(time.monotonic(), deadline)
            self.assertEqual(results, [])
            thread.join(20)
            self.assertEqual(results[0]["result"], "finished")
            self.assertEqual(server.process.wait(10), 0)

    def test_a_second_signal_ends_at_once(self):
        with Server() as server:
            self.ready(server)
            thread, results = self.begin(server, "import time; time.sleep(60)")
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            self.assertIsNone(server.process.poll())
            server.process.send_signal(signal.SIGINT)
            self.assertEqual(server.process.wait(10), 0)
            thread.join(20)
            self.assertIsInstance(results[0], Exception)

    def test_the_drain_time_is_a_limit(self):
        with Server("--drain-time", "1") as server:
            self.ready(server)
            thread, results = self.begin(server, "import time; time.sleep(60)")
            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(20), 0)
            self.assertGreater(time.monotonic() - started, 0.9)
            self.assertLess(time.monotonic() - started, 6)
            thread.join(20)
            self.assertIsInstance(results[0], Exception)

    def test_idle_connections_and_open_streams_end_at_once(self):
        accept = {"Accept": "application/json, text/event-stream"}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}
        with Server() as server:
            self.ready(server)
            with server.connect() as idle, server.connect() as listening:
                idle.request("GET", "/healthz")
                idle.getresponse().read()
                listening.request("POST", server.path, json.dumps(hello),
                                  {**accept, "Content-Type": "application/json"})
                session = listening.getresponse()
                session.read()
                listening.request("GET", server.path, headers={
                    **accept, "Mcp-Session-Id": session.headers["Mcp-Session-Id"],
                    "MCP-Protocol-Version": "2025-11-25"})
                stream = listening.getresponse()
                self.assertEqual(stream.headers.get_content_type(), "text/event-stream")
                self.assertEqual(server.metric("glovebox_http_sessions"), 1)
                started = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(10), 0)
                self.assertLess(time.monotonic() - started, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
