#!/usr/bin/python3
"""Plays transcripts against a real `glovebox serve` and checks every answer.

    GLOVEBOX=path/to/glovebox run_transcripts.py FILE.mcp...

A transcript is text, read line by line:

    # comment, as are blank lines
    > text       sent as one line, whatever it is
    < pattern    the next line from the server must be JSON that matches
    ---          the server's stdin is closed; a new server is started for what follows

At `---` and at the end of the file the server must write nothing more and exit with status 0.

A pattern is JSON of which the answer must be a superset: objects may have more keys; lists must
have the same length; everything else must be equal, but true is not 1. Some strings are special:
"<any>" matches every value, "<re>..." a string in which the expression is found, and "<absent>" as
the value of a key says that the key must not be there.
"""

import json
import os
import queue
import re
import subprocess
import sys
import threading

ANSWER_SECONDS_MAX = 30
EXIT_SECONDS_MAX = 10


class Mismatch(Exception):
    pass


def match(pattern, value, where="answer"):
    """Raises Mismatch, naming the place, unless `value` is a superset of `pattern`."""
    if pattern == "<any>":
        return
    if isinstance(pattern, str) and pattern.startswith("<re>"):
        if not isinstance(value, str) or not re.search(pattern[len("<re>"):], value):
            raise Mismatch(f"{where}: {value!r} does not match {pattern[len('<re>'):]!r}")
    elif isinstance(pattern, dict):
        if not isinstance(value, dict):
            raise Mismatch(f"{where}: expected an object, got {value!r}")
        for key, expected in pattern.items():
            if expected == "<absent>":
                if key in value:
                    raise Mismatch(f"{where}: has the key {key!r}: {value[key]!r}")
            elif key not in value:
                raise Mismatch(f"{where}: has no key {key!r}")
            else:
                match(expected, value[key], f"{where}.{key}")
    elif isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            raise Mismatch(f"{where}: expected a list of {len(pattern)}, got {value!r}")
        for index, (expected, element) in enumerate(zip(pattern, value)):
            match(expected, element, f"{where}[{index}]")
    elif type(pattern) is not type(value) and not both_numbers(pattern, value):
        raise Mismatch(f"{where}: expected {pattern!r}, got {value!r}")
    elif pattern != value:
        raise Mismatch(f"{where}: expected {pattern!r}, got {value!r}")


def both_numbers(a, b):
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (a, b))


class Server:
    """One `glovebox serve` and the lines it writes."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, text):
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Mismatch("the server is gone") from None

    def expect(self, pattern):
        try:
            line = self.lines.get(timeout=ANSWER_SECONDS_MAX)
        except queue.Empty:
            raise Mismatch(f"no answer within {ANSWER_SECONDS_MAX} seconds") from None
        if line is None:
            raise Mismatch("the server closed its output")
        try:
            value = json.loads(line)
        except ValueError:
            raise Mismatch(f"not JSON: {line!r}") from None
        try:
            match(pattern, value)
        except Mismatch as mismatch:
            raise Mismatch(f"{mismatch}\n  in {line.decode(errors='replace').strip()}") from None

    def finish(self):
        self.process.stdin.close()
        try:
            line = self.lines.get(timeout=EXIT_SECONDS_MAX)
            if line is not None:
                raise Mismatch(f"an answer nobody expects: {line.decode(errors='replace').strip()}")
            status = self.process.wait(timeout=EXIT_SECONDS_MAX)
        except (queue.Empty, subprocess.TimeoutExpired):
            raise Mismatch(f"still running {EXIT_SECONDS_MAX} seconds after its stdin was closed") \
                from None
        if status != 0:
            raise Mismatch(f"exit status {status}")

    def kill(self):
        self.process.kill()
        self.process.wait()


def play(program, path):
    """None, or a sentence that says at which line what went wrong."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    server = Server(program)
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            if line == ">" or line.startswith("> "):
                server.send(line[2:])
            elif line.startswith("< "):
                server.expect(json.loads(line[2:]))
            elif line == "---":
                server.finish()
                server = Server(program)
            elif line and not line.startswith("#"):
                raise Mismatch("neither '> ', '< ', '---' nor a comment")
        server.finish()
    except (Mismatch, ValueError) as problem:
        return f"{path}:{number}: {problem}"
    finally:
        server.kill()
    return None


def main():
    program = os.environ.get("GLOVEBOX")
    if not program or len(sys.argv) < 2:
        sys.stderr.write(__doc__)
        return 2
    problems = [problem for problem in (play(program, path) for path in sys.argv[1:]) if problem]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
