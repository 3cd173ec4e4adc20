"""Asks run_programs, and says what the profile of these tests grants."""

import json
import os
import subprocess

# The modules of the profile 'basic' as the contract lists them.
BASIC_MODULES = """
    math random datetime json re time calendar uuid collections itertools functools operator bisect
    heapq copy dataclasses enum typing string textwrap unicodedata difflib decimal fractions
    statistics cmath base64 binascii hashlib hmac secrets html html.parser xml.etree.ElementTree csv
    configparser urllib.parse abc contextlib types
""".split()


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
