"""Asks run_programs, and says what the profile of these tests grants."""

import json
import os
import pathlib
import subprocess
import tomllib

# What the profile 'basic' grants.
_PROFILE = pathlib.Path(__file__).parents[2] / "policies" / "profiles" / "basic.toml"
BASIC_MODULES = [entry["name"] for entry in tomllib.loads(_PROFILE.read_text())["modules"]]


def run(requests, environment=None):
    """Answers in the order of `requests`, each a dictionary without an id."""
    lines = "".join(json.dumps({"id": i, **request}) + "\n" for i, request in enumerate(requests))
    done = subprocess.run([os.environ["RUN_PROGRAMS"], os.environ["GLOVEBOX_PYTHON"]],
                          input=lines.encode(), stdout=subprocess.PIPE, timeout=170, check=True,
                          env=environment)
    answers = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        answers[answer["id"]] = answer
    assert len(answers) == len(requests), "a program was lost: the server did not survive it"
    return [answers[i] for i in range(len(requests))]


def read_table(path):
    """{name: text} of a file whose parts begin with a line '=== name'."""
    parts = {}
    name = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("=== "):
                name = line[4:].strip()
                assert name not in parts, f"{path}: {name} is there twice"
                parts[name] = ""
            else:
                parts[name] += line
    return parts
