// Drives a real `glovebox serve` with the client that most MCP programs are built on.
//   GLOVEBOX=path/to/glovebox node --test client_test.mjs
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const program = process.env.GLOVEBOX;
assert.ok(program, 'GLOVEBOX must name the program to test');

async function connect() {
  const transport = new StdioClientTransport({ command: program, args: ['serve'], stderr: 'pipe' });
  let stderr = '';
  transport.stderr.on('data', (chunk) => { stderr += chunk; });
  const client = new Client({ name: 'client_test', version: '1.0.0' });
  const problems = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(transport);
  return { client, transport, problems, stderr: () => stderr };
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function goneWithin(pid, milliseconds) {
  const end = Date.now() + milliseconds;
  while (isAlive(pid) && Date.now() < end) await sleep(10);
  return !isAlive(pid);
}

describe('the TypeScript SDK client over stdio', { timeout: 120_000 }, () => {
  let session;
  const run = (args, options) =>
    session.client.callTool({ name: 'execute_code', arguments: args }, undefined, options);

  before(async () => {
    session = await connect();
    // The client checks structuredContent against the schemas it has seen.
    await session.client.listTools();
  });
  after(async () => {
    await session.client.close();
  });

  it('initializes', () => {
    const server = session.client.getServerVersion();
    assert.equal(server.name, 'glovebox');
    assert.match(server.version, /^\d+\.\d+\.\d+$/);
    assert.ok(session.client.getServerCapabilities().tools);
    assert.match(session.client.getInstructions(), /execute_code/);
  });

  it('lists one tool with schemas the client accepts', async () => {
    const { tools } = await session.client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ['execute_code']);
    const [tool] = tools;
    assert.equal(tool.inputSchema.type, 'object');
    assert.equal(tool.inputSchema.additionalProperties, false);
    assert.deepEqual(tool.inputSchema.required, ['code']);
    assert.equal(tool.outputSchema.type, 'object');
    assert.equal(tool.annotations.destructiveHint, false);
  });

  it('answers ping', async () => {
    await session.client.ping();
  });

  it('prints', async () => {
    const { structuredContent, content, isError } = await run({ code: 'print(2+2)' });
    assert.equal(isError, false);
    assert.equal(structuredContent.success, true);
    assert.equal(structuredContent.stdout, '4\n');
    assert.equal(structuredContent.result, null);
    assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  });

  it('returns a value', async () => {
    const { structuredContent } = await run({
      code: "data = {'a': [1, 2.5, None, True], 'b': 'text'}\ndata",
    });
    assert.deepEqual(structuredContent.result, { a: [1, 2.5, null, true], b: 'text' });
    assert.deepEqual(structuredContent.variables, ['data']);
  });

  it('reports an exception as a result', async () => {
    const { structuredContent, isError } = await run({
      code: "print('before')\ndef f():\n    raise ValueError('no good')\nf()",
    });
    assert.equal(isError, false);
    assert.equal(structuredContent.success, false);
    assert.equal(structuredContent.status, 'failed');
    assert.equal(structuredContent.error, 'ValueError: no good');
    assert.equal(structuredContent.stdout, 'before\n');
    assert.match(structuredContent.traceback, /line 3, in f/);
  });

  it('reports bad arguments as a result with isError', async () => {
    const result = await run({ code: '1', timeout: 0 });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /'timeout'.*1 to 300.*got 0/);
  });

  it('ends a run at its timeout', async () => {
    const start = Date.now();
    const { structuredContent } = await run({ code: 'while True: pass', timeout: 1 });
    assert.equal(structuredContent.status, 'timed_out');
    assert.equal(structuredContent.error, 'Execution timed out after 1 seconds (timeout)');
    assert.ok(Date.now() - start < 5000);
  });

  it('cancels a run and stays usable', async () => {
    const abort = new AbortController();
    const pending = run({ code: 'while True: pass', timeout: 60 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await assert.rejects(pending, /abort/i);
    const { structuredContent } = await run({ code: '1 + 1' });
    assert.equal(structuredContent.result, 2);
  });

  it('runs two calls at the same time', async () => {
    const code = "import time\nstart = time.time()\ntime.sleep(1.5)\n[start, time.time()]";
    const [a, b] = await Promise.all([run({ code }), run({ code })]);
    const [startA, endA] = a.structuredContent.result;
    const [startB, endB] = b.structuredContent.result;
    assert.ok(startA < endB && startB < endA, 'the two runs did not overlap');
    assert.notEqual(a.structuredContent.execution_id, b.structuredContent.execution_id);
  });

  it('carries big output and says where it was cut', async () => {
    const { structuredContent } = await run({ code: "print('x' * 3_000_000)\nprint('the end')" });
    assert.equal(structuredContent.success, true);
    assert.equal(structuredContent.truncated, true);
    assert.equal(structuredContent.stdout.length, 1048576 + '\n[Output truncated]'.length);
    assert.ok(structuredContent.stdout_tail.endsWith('the end\n'));
  });

  it('carries every character', async () => {
    const text = 'gr\u00fc\u00df \u2028\u2029 \u{1f40d} \u0000 "\\ \u001b';
    const { structuredContent } = await run({
      code: 'import sys\ntext = sys.stdin.read()\nprint(text)\ntext',
      stdin: text,
    });
    assert.equal(structuredContent.result, text);
    assert.ok(structuredContent.stdout.startsWith(`${text}\n`));
  });

  it('reports output as progress while the code runs', async () => {
    const reports = [];
    const { structuredContent } = await run(
      { code: "import time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.3)" },
      { onprogress: (report) => reports.push(report) },
    );
    assert.equal(reports.map((report) => report.message).join(''), structuredContent.stdout);
    assert.ok(reports.length >= 2, 'everything came at once');
    for (let i = 1; i < reports.length; i += 1) {
      assert.ok(reports[i].progress > reports[i - 1].progress);
    }
  });

  it('refuses a tool it does not have', async () => {
    await assert.rejects(session.client.callTool({ name: 'no_such_tool', arguments: {} }),
      /Unknown tool: no_such_tool/);
  });

  it('wrote nothing that is not protocol, and nothing to stderr', () => {
    assert.deepEqual(session.problems, []);
    assert.equal(session.stderr(), '');
  });
});

describe('the end of a session', { timeout: 60_000 }, () => {
  const endless = { name: 'execute_code', arguments: { code: 'while True: pass' } };

  it('comes when the client closes', async () => {
    const { client, transport } = await connect();
    const { pid } = transport;
    await client.callTool({ name: 'execute_code', arguments: { code: '1' } });
    assert.ok(isAlive(pid));
    await client.close();
    assert.ok(await goneWithin(pid, 1000), 'the server outlived its client');
  });

  it('comes when the client closes while code runs, before the client sends signals', async () => {
    const { client, transport } = await connect();
    const { pid } = transport;
    const pending = client.callTool(endless);
    pending.catch(() => {});
    await sleep(300);
    const start = Date.now();
    await client.close();
    assert.ok(await goneWithin(pid, 1000), 'the server outlived its client');
    assert.ok(Date.now() - start < 1950, 'it took the SIGTERM that clients send after two seconds');
    await assert.rejects(pending);
  });

  it('comes with SIGTERM', async () => {
    const { client, transport } = await connect();
    const { pid } = transport;
    client.callTool(endless).catch(() => {});
    await sleep(300);
    process.kill(pid, 'SIGTERM');
    assert.ok(await goneWithin(pid, 1000), 'the server ignored SIGTERM');
    await client.close();
  });
});
