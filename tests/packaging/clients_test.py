"""docs/clients.md as its readers use it: every block has its client's shape, the servers answer."""

import http.client
import json
import os
import re
import shlex
import subprocess
import unittest
from urllib.parse import urlsplit

from stdio_client import INITIALIZE, StdioServer

GLOVEBOX = os.environ["GLOVEBOX"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSTALLED = "/usr/local/bin/glovebox"
TOKEN = "a-token-of-at-least-32-characters-0123456789"
PLACEHOLDER = re.compile(r"\$\{[\w:-]+\}|\$SANDBOX_API_TOKEN|\bTOKEN\b")
TOOLS = ["execute_code", "get_sandbox_info", "list_capabilities", "run_python_code",
         "validate_code"]


def read_blocks(path):
    """{heading: {language: [text]}} of a document's fenced blocks, by its ## headings."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        blocks = found.setdefault(section.partition("\n")[0], {})
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.M):
            blocks.setdefault(language, []).append(block)
    return found


BLOCKS = read_blocks("docs/clients.md")


def json_of(heading):
    return [json.loads(block) for block in BLOCKS[heading]["json"]]


def commands_of(heading):
    """The command lines of a section's shell blocks, as words."""
    lines = "\n".join(BLOCKS[heading]["sh"]).replace("\\\n", " ")
    return [words for words in iter_commands(lines) if words]


def iter_commands(text):
    pending = ""
    for line in text.split("\n"):
        pending += line + "\n"
        try:
            yield shlex.split(pending)
        except ValueError:
            continue  # a quotation that goes on in the next line
        pending = ""


class DocumentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [GLOVEBOX, "serve", "--transport", "http", "--port", "0"]
        cls.server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      env={**os.environ, "SANDBOX_API_TOKEN": TOKEN}, text=True)
        for line in cls.server.stderr:
            if match := re.search(r"http://[\w.]+:(\d+)", line):
                cls.port = int(match.group(1))
                return
        raise AssertionError("the server named no address")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(30)
        cls.server.stderr.close()

    def check_stdio(self, command, arguments, environment=None):
        self.assertEqual(command, INSTALLED)
        self.assertEqual(arguments[0], "serve")
        for value in (environment or {}).values():
            self.assertIsInstance(value, str)
        child = {**os.environ, **(environment or {})}
        with StdioServer([GLOVEBOX, *arguments], child) as server:
            self.assertEqual(server.ask("initialize", INITIALIZE)["serverInfo"]["name"], "glovebox")
        with StdioServer([GLOVEBOX, *arguments], child) as server:
            self.assertIn("2026-07-28", server.ask_modern("server/discover")["supportedVersions"])
            self.assertEqual(sorted(tool["name"]
                                    for tool in server.ask_modern("tools/list")["tools"]), TOOLS)

    def post(self, url, headers, body):
        """(status, body) of a request to our server instead of the one that `url` names."""
        address = urlsplit(url)
        self.assertEqual((address.scheme, address.netloc), ("http", "127.0.0.1:9015"))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", address.path, json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer.status, content

    def check_http(self, url, headers):
        filled = {name: PLACEHOLDER.sub(TOKEN, value) for name, value in headers.items()}
        self.assertNotEqual(filled, headers, "no token in the headers")
        protocol = {"Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        status, content = self.post(url, {**protocol, **filled}, body)
        self.assertEqual(status, 200, content)
        self.assertIn('"glovebox"', content)
        status, content = self.post(url, protocol, body)
        self.assertEqual((status, json.loads(content)), (401, {"error": "Unauthorized"}))

    def check_servers(self, servers, types):
        """A map of servers; `types` are the kinds it may name, None where it need not name one."""
        self.assertEqual(list(servers), ["glovebox"])
        server = servers["glovebox"]
        self.assertIn(server.get("type"), types)
        if "command" in server:
            self.assertLessEqual(set(server), {"type", "command", "args", "env"})
            self.check_stdio(server["command"], server["args"], server.get("env"))
        else:
            self.assertLessEqual(set(server), {"type", "url", "headers"})
            self.check_http(server["url"], server["headers"])

    def test_every_json_block_is_in_a_section_that_is_tested(self):
        self.assertEqual([heading for heading, blocks in BLOCKS.items() if "json" in blocks],
                         ["Claude Desktop", "Claude Code", "Cursor", "VS Code", "ContextForge"])

    def test_claude_desktop(self):
        (document,) = json_of("Claude Desktop")
        self.assertEqual(list(document), ["mcpServers"])
        self.check_servers(document["mcpServers"], {None})

    def test_claude_code_files(self):
        for document in json_of("Claude Code"):
            self.assertEqual(list(document), ["mcpServers"])
            kind = {"stdio", None} if "command" in document["mcpServers"]["glovebox"] else {"http"}
            self.check_servers(document["mcpServers"], kind)

    def test_claude_code_commands(self):
        commands = commands_of("Claude Code")
        self.assertEqual(len(commands), 3)
        for words in commands:
            self.assertEqual(words[:3], ["claude", "mcp", "add"])
            if "--" in words:
                split = words.index("--")
                self.assertEqual(words[split - 1], "glovebox")
                environment = {}
                if "--env" in words:
                    environment = dict([words[words.index("--env") + 1].split("=")])
                self.check_stdio(words[split + 1], words[split + 2:], environment)
            else:
                self.assertEqual(words[3:6], ["--transport", "http", "glovebox"])
                self.assertEqual(words[7], "--header")
                self.check_http(words[6], dict([words[8].split(": ")]))

    def test_cursor(self):
        for document in json_of("Cursor"):
            self.assertEqual(list(document), ["mcpServers"])
            self.check_servers(document["mcpServers"], {None})

    def test_vs_code(self):
        for document in json_of("VS Code"):
            server = document["servers"]["glovebox"]
            self.check_servers(document["servers"], {"stdio" if "command" in server else "http"})
            asked = {entry["id"] for entry in document.get("inputs", [])}
            used = set(re.findall(r"\$\{input:([\w-]+)\}", json.dumps(server)))
            self.assertEqual(used, asked)
            for entry in document.get("inputs", []):
                self.assertEqual((entry["type"], entry["password"]), ("promptString", True))

    def test_a_call_by_hand(self):
        (words,) = [words for words in commands_of("One server for many: HTTP")
                    if words[0] == "curl"]
        headers = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
        headers["Authorization"] = PLACEHOLDER.sub(TOKEN, headers["Authorization"])
        body = json.loads(words[words.index("-d") + 1])
        status, content = self.post(words[1], headers, body)
        self.assertEqual(status, 200, content)
        self.assertIn(r'"stdout":"4\n"', content)

    def test_contextforge(self):
        (gateway,) = json_of("ContextForge")
        self.assertEqual(gateway["transport"], "STREAMABLEHTTP")
        self.assertEqual(gateway["auth_type"], "bearer")
        self.assertEqual(set(gateway), {"name", "url", "transport", "auth_type", "auth_token"})
        self.check_http(gateway["url"], {"Authorization": "Bearer " + gateway["auth_token"]})

    def test_the_readme(self):
        blocks = read_blocks("README.md")
        (block,) = [text for section in blocks.values() for text in section.get("json", [])]
        self.check_servers(json.loads(block)["mcpServers"], {None})


if __name__ == "__main__":
    unittest.main()
