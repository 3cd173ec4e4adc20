"""Ordinary programs, as agents send them, through one `glovebox serve`: each must print exactly
what stands below it, in its profile, with the language layer on and without a security event.

A file of snippets is Python with marks:
    #== name [profile]     begins one; without a profile it is the server's default, basic
    #> line                what it prints, the repr of a last expression included; blanks at the
                           end of a line are followed by a $
    #= JSON                its `result`; not compared where there is none
    #! events              it tries what is refused, to see what happens

With SNIPPETS_CONTAINER=RUNTIME they run in containers of that runtime; SNIPPETS_EVERY=N takes every
Nth; SNIPPETS_IMAGE is the image. Words on the command line choose by name.
"""

import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

SNIPPETS_MIN = 150
SETTINGS = {
    "SANDBOX_ENABLE_DATA_SCIENCE": "true",
    "SANDBOX_ENABLE_FILESYSTEM": "true",
    "SANDBOX_DEFAULT_PROFILE": "basic",
}
CONTAINER = os.environ.get("SNIPPETS_CONTAINER", "")
EVERY = int(os.environ.get("SNIPPETS_EVERY", "1"))
if CONTAINER:
    SETTINGS |= {"SANDBOX_ENABLE_CONTAINER_MODE": "true", "SANDBOX_CONTAINER_RUNTIME": CONTAINER,
                 "SANDBOX_CONTAINER_IMAGE": os.environ.get("SNIPPETS_IMAGE", "")}
HEADER = re.compile(r"^#== (?P<name>[^\[\n]*?)(?: \[(?P<profile>[\w+]+)\])?\n", re.M)


def unmarked(line):
    """A line of output; a dollar sign at its end shows blanks before it."""
    text = line.rstrip("\n")[3:]
    return text[:-1] if text.endswith(" $") else text


def snippets_of(path):
    """(name, profile, code, expected output, result or None, whether events may be) of each."""
    text = path.read_text()
    headers = list(HEADER.finditer(text))
    for header, following in zip(headers, [*headers[1:], None]):
        body = text[header.end():following.start() if following else len(text)]
        lines = body.splitlines(keepends=True)
        code = "".join(line for line in lines if not line.startswith(("#>", "#=", "#!")))
        printed = "\n".join(unmarked(line) for line in lines if line.startswith("#>"))
        results = [line[2:] for line in lines if line.startswith("#=")]
        profile = "+".join(["basic"] * (header["profile"] not in (None, "full"))
                           + ([header["profile"]] if header["profile"] else []))
        yield (f"{path.stem}: {header['name']}", profile or "basic", code, printed,
               json.loads(results[0]) if results else None,
               any(line.startswith("#! events") for line in lines))


def problem_with(answer, printed, result, events):
    """Why the answer is not the expected one; None when it is."""
    if not answer["success"]:
        return f"failed: {answer['error']} {answer.get('findings', '')}\n{answer.get('traceback')}"
    if answer["stdout"] != printed:
        return f"printed {answer['stdout']!r}\n instead of {printed!r}"
    if result is not None and answer["result"] != result:
        return f"result {json.dumps(answer['result'])} instead of {json.dumps(result)}"
    if any(event["refused"] for event in answer["security_events"]) != events:
        return f"had security events: {answer['security_events']}"
    return None


def main():
    environment = {**os.environ, **SETTINGS}
    snippets = [snippet for path in sorted(HERE.glob("*.txt")) for snippet in snippets_of(path)]
    problems = ran = 0
    command = [os.environ["GLOVEBOX"], "serve", "--env-file", "", "--config", ""]
    with StdioServer(command, environment) as server:
        server.ask("initialize", INITIALIZE)
        for number, (name, profile, code, *expected) in enumerate(snippets):
            if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
                continue
            if number % EVERY:
                continue
            ran += 1
            arguments = {"code": code, "profile": profile, "timeout": 120,
                         "use_container": bool(CONTAINER)}
            answer = server.ask("tools/call", {"name": "execute_code", "arguments": arguments})
            if answer["isError"]:
                problem = answer["content"][0]["text"]
            else:
                problem = problem_with(answer["structuredContent"], *expected)
                if CONTAINER not in answer["structuredContent"].get("container", ""):
                    problem = f"was not held by {CONTAINER}"
            if problem:
                problems += 1
                print(f"{name} [{profile}] {problem}")
    print(f"{ran} of {len(snippets)} snippets, {problems} problems")
    return 1 if problems or len(snippets) < SNIPPETS_MIN else 0


if __name__ == "__main__":
    sys.exit(main())
