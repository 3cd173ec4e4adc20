// The TypeScript SDK v2, which speaks both eras.
//   GLOVEBOX=path/to/glovebox tests/node --test sdk_v2_test.mjs
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { describeServer } from './behaviour.mjs';
import { program, serveHttp } from './support.mjs';

const modern = '2026-07-28';

async function open(transport, mode, era) {
  const client = new Client({ name: 'sdk_v2_test', version: '1.0.0' },
    { versionNegotiation: { mode } });
  const problems = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(transport);
  assert.equal(client.getProtocolEra(), era);
  assert.equal(client.getNegotiatedProtocolVersion(), era === 'modern' ? modern : '2025-11-25');
  const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
  return { client, call, problems };
}

const connectStdio = (mode, era) => async () => {
  const transport = new StdioClientTransport({ command: program, args: ['serve'], stderr: 'pipe' });
  let stderr = '';
  transport.stderr.on('data', (chunk) => { stderr += chunk; });
  const session = await open(transport, mode, era);
  return {
    ...session,
    serverPid: transport.pid,
    noise: () => stderr,
    close: () => session.client.close(),
  };
};

const connectHttp = (mode, era) => async () => {
  const server = await serveHttp();
  const session = await open(new StreamableHTTPClientTransport(server.url), mode, era);
  const announced = server.words();
  return {
    ...session,
    serverPid: server.pid,
    noise: () => server.words().slice(announced.length),
    close: async () => {
      await session.client.close();
      assert.equal(await server.stop(), 0, server.words());
    },
  };
};

const modes = [['legacy', 'legacy'], ['auto', 'modern'], [{ pin: modern }, 'modern']];
for (const [mode, era] of modes) {
  const name = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  describeServer(`SDK v2, ${name}, over stdio`, connectStdio(mode, era));
  describeServer(`SDK v2, ${name}, over HTTP`, connectHttp(mode, era));
}

describe('a token', { timeout: 60_000 }, () => {
  const token = 'a-token-of-at-least-32-characters-0123456789';

  for (const [mode, era] of modes.slice(0, 2)) {
    it(`is demanded and taken, ${era}`, async () => {
      const server = await serveHttp({ env: { SANDBOX_API_TOKEN: token } });
      const transport = (headers) =>
        new StreamableHTTPClientTransport(server.url, { requestInit: { headers } });
      await assert.rejects(open(transport({}), mode, era), /401|unauthori[sz]ed/i);
      await assert.rejects(open(transport({ Authorization: `Bearer ${token}x` }), mode, era),
        /401|unauthori[sz]ed/i);
      const right = transport({ Authorization: `Bearer ${token}` });
      const { client, call } = await open(right, mode, era);
      const { structuredContent } = await call('execute_code', { code: 'print(2+2)' });
      assert.equal(structuredContent.stdout, '4\n');
      await client.close();
      assert.equal(await server.stop(), 0, server.words());
    });
  }
});
