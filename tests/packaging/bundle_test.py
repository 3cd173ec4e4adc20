"""The MCPB bundle and its registry entry: made, checked, unpacked, and the server in it run."""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import unittest
import zipfile

from stdio_client import StdioServer

GLOVEBOX = os.environ["GLOVEBOX"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = "io.github.somebody/glovebox"
URL = "https://github.com/somebody/glovebox/releases/download/v0.1.0/glovebox.mcpb"


class BundleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = cls._folder.name
        subprocess.run([os.path.join(ROOT, "dev/make_mcpb.py"), os.path.dirname(GLOVEBOX),
                        cls.folder, "--name", NAME, "--url", URL], check=True)
        cls.bundle = os.path.join(cls.folder, "glovebox.mcpb")
        cls.unpacked = os.path.join(cls.folder, "unpacked")
        with zipfile.ZipFile(cls.bundle) as archive:
            for entry in archive.infolist():
                os.chmod(archive.extract(entry, cls.unpacked), entry.external_attr >> 16 or 0o755)
        with open(os.path.join(cls.unpacked, "manifest.json"), encoding="utf-8") as file:
            cls.manifest = json.load(file)

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def command(self):
        """What a host runs: the manifest's command, with the user's settings left alone."""
        settings = {f"user_config.{name}": str(setting["default"])
                    for name, setting in self.manifest["user_config"].items()}
        values = {"__dirname": self.unpacked, **settings}

        def fill(text):
            return re.sub(r"\$\{([\w.]+)\}", lambda match: values[match.group(1)], text)

        config = self.manifest["server"]["mcp_config"]
        environment = {name: fill(value) for name, value in config["env"].items()}
        return ([fill(word) for word in (config["command"], *config["args"])],
                {**os.environ, **environment})

    def test_the_server_in_it_runs_code(self):
        command, environment = self.command()
        self.assertEqual(command[0],
                         os.path.join(self.unpacked, self.manifest["server"]["entry_point"]))
        with StdioServer(command, environment) as server:
            answer = server.ask_modern("tools/call", name="execute_code",
                                       arguments={"code": "print(2+2)"})
            self.assertEqual(answer["structuredContent"]["stdout"], "4\n")

    def test_it_names_the_tools_the_server_has(self):
        command, environment = self.command()
        with StdioServer(command, environment) as server:
            tools = {tool["name"] for tool in server.ask_modern("tools/list")["tools"]}
        self.assertEqual({tool["name"] for tool in self.manifest["tools"]}, tools)

    def test_the_version_is_the_programs(self):
        said = subprocess.run([GLOVEBOX, "--version"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.assertEqual(said, f"glovebox {self.manifest['version']}\n")
        for path in ("packaging/mcpb/manifest.json", "packaging/server.json"):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["version"], self.manifest["version"], path)

    def test_the_registry_entry(self):
        """What the registry's schema of 2025-12-11 and its rules for bundles ask for."""
        with open(os.path.join(self.folder, "server.json"), encoding="utf-8") as file:
            entry = json.load(file)
        self.assertRegex(entry["$schema"], r"^https://.*/schemas/2025-12-11/server\.schema\.json$")
        self.assertRegex(entry["name"], r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
        self.assertEqual(entry["name"], NAME)
        self.assertTrue(1 <= len(entry["description"]) <= 100)
        self.assertTrue(1 <= len(entry["title"]) <= 100)
        self.assertEqual(entry["version"], self.manifest["version"])
        (package,) = entry["packages"]
        self.assertEqual(package["registryType"], "mcpb")
        self.assertEqual(package["identifier"], URL)
        self.assertIn("mcp", package["identifier"])
        self.assertEqual(package["version"], entry["version"])
        self.assertEqual(package["transport"], {"type": "stdio"})
        with open(self.bundle, "rb") as file:
            self.assertEqual(package["fileSha256"], hashlib.sha256(file.read()).hexdigest())
        for variable in package["environmentVariables"]:
            self.assertLessEqual(set(variable), {"name", "description", "format", "default"})
            self.assertIn(variable["name"], self.manifest["server"]["mcp_config"]["env"])


if __name__ == "__main__":
    unittest.main()
