"""An MCP server with the kind of sandbox that does not hold: policy inside the interpreter.

Imports, dunder attributes and dangerous builtins are refused by a walk over the syntax tree, and
the code runs with few builtins, in the server's own process. For tests of the audit, which must
find the way out.
"""
import ast
import contextlib
import io
import json
import sys

SAFE = {name: getattr(__builtins__, name) for name in
        ("abs", "bytes", "dict", "Exception", "float", "hex", "int", "isinstance", "len", "list",
         "NameError", "print", "range", "repr", "sorted", "str", "sum", "tuple",
         "ZeroDivisionError")}


def check(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            raise PermissionError("import is not allowed")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise PermissionError(f"attribute {node.attr} is not allowed")
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            raise PermissionError(f"name {node.id} is not allowed")


def run(code):
    output = io.StringIO()
    try:
        tree = ast.parse(code)
        check(tree)
        with contextlib.redirect_stdout(output):
            exec(compile(tree, "<code>", "exec"), {"__builtins__": SAFE})
        return output.getvalue(), False
    except BaseException as error:  # whatever it is, the server goes on
        return f"{output.getvalue()}{type(error).__name__}: {error}", True


def answer(request):
    method = request["method"]
    if method == "initialize":
        return {"protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "in-process", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "run_python_code", "inputSchema": {
            "type": "object", "properties": {"python_code": {"type": "string"}},
            "required": ["python_code"]}}]}
    if method == "tools/call":
        text, failed = run(request["params"]["arguments"]["python_code"])
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message)
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        reply["result"] = result
    sys.__stdout__.write(json.dumps(reply) + "\n")
    sys.__stdout__.flush()
