// The TypeScript SDK v1, the client that most MCP programs are built on: the legacy era.
//   GLOVEBOX=path/to/glovebox tests/node --test sdk_v1_test.mjs
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { describeServer } from './behaviour.mjs';
import { goneWithin, isAlive, program, serveHttp } from './support.mjs';

async function open(transport) {
  const client = new Client({ name: 'sdk_v1_test', version: '1.0.0' });
  const problems = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(transport);
  const call = (name, args, options) =>
    client.callTool({ name, arguments: args }, undefined, options);
  return { client, call, problems };
}

async function connectStdio() {
  const transport = new StdioClientTransport({ command: program, args: ['serve'], stderr: 'pipe' });
  let stderr = '';
  transport.stderr.on('data', (chunk) => { stderr += chunk; });
  const session = await open(transport);
  return {
    ...session,
    serverPid: transport.pid,
    noise: () => stderr,
    close: () => session.client.close(),
  };
}

async function connectHttp() {
  const server = await serveHttp();
  const transport = new StreamableHTTPClientTransport(server.url);
  const session = await open(transport);
  assert.ok(transport.sessionId, 'no session was opened');
  const announced = server.words();
  return {
    ...session,
    serverPid: server.pid,
    noise: () => server.words().slice(announced.length),
    close: async () => {
      await transport.terminateSession();
      await session.client.close();
      assert.equal(await server.stop(), 0, server.words());
    },
  };
}

describeServer('SDK v1 over stdio', connectStdio);
describeServer('SDK v1 over HTTP', connectHttp);

describe('SDK v1', { timeout: 60_000 }, () => {
  it('agrees on the newest revision it knows, and pings', async () => {
    const { client, close } = await connectStdio();
    await client.ping();
    await close();
    const http = await connectHttp();
    assert.equal(http.client.transport.protocolVersion, '2025-11-25');
    await http.client.ping();
    await http.close();
  });
});

describe('the end of a session', { timeout: 60_000 }, () => {
  const endless = { code: 'while True: pass' };

  it('comes when the client closes', async () => {
    const { call, serverPid, close } = await connectStdio();
    await call('execute_code', { code: '1' });
    assert.ok(isAlive(serverPid));
    await close();
    assert.ok(await goneWithin(serverPid, 1000), 'the server outlived its client');
  });

  it('comes when the client closes while code runs, before the client sends signals', async () => {
    const { call, serverPid, close } = await connectStdio();
    const pending = call('execute_code', endless);
    pending.catch(() => {});
    await sleep(300);
    const start = Date.now();
    await close();
    assert.ok(await goneWithin(serverPid, 1000), 'the server outlived its client');
    assert.ok(Date.now() - start < 1950, 'it took the SIGTERM that clients send after two seconds');
    await assert.rejects(pending);
  });

  it('comes with SIGTERM', async () => {
    const { call, serverPid, close } = await connectStdio();
    call('execute_code', endless).catch(() => {});
    await sleep(300);
    process.kill(serverPid, 'SIGTERM');
    assert.ok(await goneWithin(serverPid, 1000), 'the server ignored SIGTERM');
    await close();
  });
});
