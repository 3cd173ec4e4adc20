// The MCP Inspector's command line: both transports, both eras.
//   GLOVEBOX=path/to/glovebox tests/node --test inspector_test.mjs
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { program, serveHttp } from './support.mjs';

const inspector = join(fileURLToPath(import.meta.url), '../../node_modules',
  '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
// Documented exit codes.
const toolFailed = 5;

// It keeps a catalogue of servers at home.
let home;
before(() => { home = mkdtempSync(join(tmpdir(), 'glovebox-inspector-')); });
after(() => rmSync(home, { recursive: true }));

function start(target, ...args) {
  return spawn(process.execPath,
    [inspector, '--cli', '--format', 'json', ...target.options, ...args, ...target.command],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: home } });
}

// What one call of the command line printed and how it ended.
async function inspect(target, ...args) {
  const child = start(target, ...args);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => { stdout += chunk; });
  child.stderr.on('data', (chunk) => { stderr += chunk; });
  const code = await new Promise((resolve) => { child.once('close', resolve); });
  return { code, stderr, result: stdout ? JSON.parse(stdout).result : undefined };
}

const callTool = (target, name, args) => inspect(target, '--method', 'tools/call', '--tool-name',
  name, '--tool-args-json', JSON.stringify(args));

function describeInspector(title, open) {
  describe(title, { timeout: 120_000 }, () => {
    let target;
    before(async () => { target = await open(); });
    after(() => target?.close());

    it('finds every schema portable', async () => {
      const { code, stderr, result } = await inspect(target, '--method', 'tools/list', '--strict');
      assert.equal(code, 0, stderr);
      assert.match(stderr, /^(0 errors, \d+ warnings across 3 tools\.|)$/m);
      assert.deepEqual(result.tools.map((tool) => tool.name).sort(),
        ['execute_code', 'get_sandbox_info', 'list_capabilities', 'run_python_code',
          'validate_code']);
    });

    it('runs code', async () => {
      const { code, stderr, result } = await callTool(target, 'execute_code',
        { code: 'print(2+2)' });
      assert.equal(code, 0, stderr);
      assert.equal(result.structuredContent.stdout, '4\n');
    });

    it('shows a failure of the code as a result', async () => {
      const { code, stderr, result } = await callTool(target, 'execute_code', { code: '1/0' });
      assert.equal(code, 0, stderr);
      assert.equal(result.structuredContent.error, 'ZeroDivisionError: division by zero');
    });

    it('shows bad arguments as an error', async () => {
      const { code, result } = await callTool(target, 'execute_code', { code: '1', timeout: 0 });
      assert.equal(code, toolFailed);
      assert.equal(result.isError, true);
    });

    it('validates code and asks about the sandbox', async () => {
      const valid = await callTool(target, 'validate_code', { code: 'print(' });
      assert.equal(valid.result.structuredContent.valid, false, valid.stderr);
      const info = await callTool(target, 'get_sandbox_info', {});
      assert.equal(info.result.structuredContent.timeout_seconds, 30, info.stderr);
    });
  });
}

for (const era of ['legacy', 'modern']) {
  const options = ['--protocol-era', era];
  describeInspector(`Inspector over stdio, ${era}`, async () => ({
    options,
    command: ['--', program, 'serve'],
    close: () => {},
  }));
  describeInspector(`Inspector over HTTP, ${era}`, async () => {
    const server = await serveHttp();
    return {
      options: [...options, '--transport', 'http', '--server-url', server.url.href],
      command: [],
      close: async () => assert.equal(await server.stop(), 0, server.words()),
    };
  });
}
