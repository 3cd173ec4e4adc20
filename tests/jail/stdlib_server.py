"""An MCP server written on the standard library: what a small third-party server looks like.

Its tools do what the jail must refuse, and say plainly how far they came. `print()` beside the
protocol, a daemon and a child that outlives it are part of the act.
"""

import json
import os
import socket
import subprocess
import sys
import urllib.request


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return "written"


def connect(host, port):
    with socket.create_connection((host, port), timeout=2):
        return "connected"


def fetch(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def daemon(mark):
    """Forks twice and leaves the session, as daemon(3) does."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            os.execv("/bin/sleep", [mark, "3600"])
        os._exit(0)
    return "started"


def child(mark):
    # pylint: disable=consider-using-with
    subprocess.Popen([mark, "3600"], executable="/bin/sleep", stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "started"


def who():
    with open("/proc/self/status", encoding="utf-8") as status:
        lines = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
    return json.dumps({"uid": os.getuid(), "capabilities": lines["CapEff"], "seccomp":
                       lines["Seccomp"], "no_new_privs": lines["NoNewPrivs"],
                       "descriptors": sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:-1],
                       "environment": sorted(os.environ), "processes":
                       sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit()),
                       "host": os.uname().nodename, "folder": os.getcwd()})


def noise():
    print("not a message")
    print("{ nor: this }")
    return "said"


TOOLS = {tool.__name__: tool for tool in (read, write, connect, fetch, daemon, child, who, noise)}


def call(params):
    try:
        text, failed = TOOLS[params["name"]](**params.get("arguments", {})), False
    except OSError as error:
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "stdlib", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    if method == "tools/call":
        return call(params)
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}),
                  flush=True)


main()
