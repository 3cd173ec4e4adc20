"""A client without manners: flood.py PORT PATH TOKEN CONNECTIONS CODE. Sends execute_code on every
connection as fast as answers come, heeds no Retry-After, and stops when its input ends. Prints how
often it was served, refused, and told when to come back."""
import asyncio
import collections
import json
import sys

from http_server import META


def request(path, token, code):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": {"code": code}, "_meta": META}})
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            "Mcp-Method: tools/call\r\nMcp-Name: execute_code\r\n"
            f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


async def read_body(reader, head):
    if "content-length" in head:
        await reader.readexactly(int(head["content-length"]))
        return
    while size := int(await reader.readline(), 16):  # chunked
        await reader.readexactly(size + 2)
    await reader.readline()


async def client(port, message, counts):
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                writer.write(message)
                lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                head = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
                counts[lines[0].split(" ")[1]] += 1
                counts["retry-after"] += "retry-after" in head
                await read_body(reader, head)
        except (OSError, asyncio.IncompleteReadError):
            counts["disconnected"] += 1
        finally:
            writer.close()


async def main(port, path, token, connections, code):
    counts = collections.Counter()
    message = request(path, token, code)
    clients = [asyncio.create_task(client(int(port), message, counts))
               for _ in range(int(connections))]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in clients:
        task.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    print(json.dumps(counts))


asyncio.run(main(*sys.argv[1:]))
