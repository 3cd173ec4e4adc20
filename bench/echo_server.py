"""An MCP server that answers as fast as Python can: for what a relay in front of it costs."""

import os

while line := os.read(0, 65536):
    start = line.find(b'"id":') + 5
    os.write(1, b'{"jsonrpc":"2.0","id":' + line[start:line.find(b",", start)]
             + b',"result":{"content":[]}}\n')
