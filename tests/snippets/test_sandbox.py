"""Proves an image of dev/build_sandbox: every file is the one its manifest names, the packages it
promises can be imported in a container of it, and ordinary programs run there.

    GLOVEBOX=.../glovebox test_sandbox.py FOLDER        (needs root)
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

IMPORTS = ("numpy", "pandas", "matplotlib", "scipy", "sklearn", "sympy", "requests")


def check_manifest(folder):
    """Problems of the files against the manifest, both ways."""
    root = folder / "rootfs"
    noted = {}
    for line in (folder / "manifest").read_text().splitlines():
        digest, separator, path = line.partition("  ./")
        if separator and len(digest) == 64:
            noted[path] = digest
    problems = []
    found = set()
    for path in root.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        name = str(path.relative_to(root))
        found.add(name)
        if noted.get(name) != hashlib.sha256(path.read_bytes()).hexdigest():
            problems.append(f"{name} is not what the manifest says")
        if path.stat().st_mode & 0o6000:
            problems.append(f"{name} gives privileges")
    return problems + [f"{name} is missing" for name in noted.keys() - found]


def check_imports(image):
    environment = {**os.environ, "SANDBOX_ENABLE_CONTAINER_MODE": "true",
                   "SANDBOX_ENABLE_FULL": "true", "SANDBOX_CONTAINER_IMAGE": str(image)}
    command = [os.environ["GLOVEBOX"], "serve", "--env-file", "", "--config", ""]
    code = "import json, os, importlib\nversions = {}\n"
    code += f"for name in {IMPORTS!r}:\n"
    code += "    module = importlib.import_module(name)\n"
    code += "    versions[name] = (module.__version__, module.__file__)\n"
    code += "print(json.dumps(versions), os.path.exists('/etc/shadow'))"
    with StdioServer(command, environment) as server:
        server.ask("initialize", INITIALIZE)
        answer = server.ask("tools/call", {"name": "execute_code", "arguments": {
            "code": code, "use_container": True, "profile": "full", "timeout": 120}})
    result = answer["structuredContent"]
    if not result["success"]:
        return [f"imports: {result['error']}"]
    text, _, shadow = result["stdout"].strip().rpartition(" ")
    print(f"in {result['container']}: "
          + ", ".join(f"{name} {version}" for name, (version, _) in json.loads(text).items()))
    return ["/etc/shadow is in the image"] if shadow != "False" else []


def main():
    folder = pathlib.Path(sys.argv[1]).absolute()
    problems = check_manifest(folder) + check_imports(folder / "rootfs")
    for problem in problems[:20]:
        print(problem)
    snippets = subprocess.run(
        [sys.executable, "-B", HERE / "run_snippets.py"], check=False,
        env={**os.environ, "SNIPPETS_CONTAINER": "runsc", "SNIPPETS_EVERY": "4",
             "SNIPPETS_IMAGE": str(folder / "rootfs")})
    return 1 if problems or snippets.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
