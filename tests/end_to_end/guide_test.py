"""The examples of docs/guide.md: each block of Python must answer what the JSON after it says."""

import json
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

EXAMPLE = re.compile(r"^```python(?P<options>[^\n]*)\n(?P<code>.*?)^```\n\n"
                     r"```json\n(?P<json>.*?)^```", re.M | re.S)


def examples():
    return list(EXAMPLE.finditer((ROOT / "docs" / "guide.md").read_text()))


def arguments_of(example):
    options = dict(word.split("=", 1) for word in example["options"].split())
    arguments = {"code": example["code"]}
    if "profile" in options:
        arguments["profile"] = "basic+" * (options["profile"] != "full") + options["profile"]
    if "globals" in options:
        arguments["global_variables"] = json.loads(options["globals"])
    if "stdin" in options:
        arguments["stdin"] = options["stdin"] + "\n"
    if "timeout" in options:
        arguments["timeout"] = int(options["timeout"])
    if "memory_limit" in options:
        arguments["memory_limit"] = options["memory_limit"]
    return arguments


class Guide(unittest.TestCase):
    def test_every_block_of_python_is_an_example(self):
        text = (ROOT / "docs" / "guide.md").read_text()
        self.assertEqual(text.count("```python"), len(examples()))
        self.assertGreater(len(examples()), 10)

    def test_the_examples_answer_what_they_say(self):
        environment = {**os.environ, "SANDBOX_ENABLE_DATA_SCIENCE": "true",
                       "SANDBOX_DEFAULT_PROFILE": "basic"}
        command = [os.environ["GLOVEBOX"], "serve", "--env-file", "", "--config", ""]
        with StdioServer(command, environment) as server:
            server.ask("initialize", INITIALIZE)
            for example in examples():
                with self.subTest(example["code"]):
                    answer = server.ask("tools/call", {"name": "execute_code",
                                                       "arguments": arguments_of(example)})
                    self.assertFalse(answer["isError"], answer["content"])
                    got = answer["structuredContent"]
                    for key, value in json.loads(example["json"]).items():
                        self.assertEqual(got.get(key), value, key)


if __name__ == "__main__":
    unittest.main()
