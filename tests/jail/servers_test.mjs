// Real MCP servers in the jail, driven by the real SDK: what they are for works, and what they must
// not do is refused, named, and has no effect on the host.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync,
  writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const program = process.env.GLOVEBOX;
assert.ok(program, 'GLOVEBOX must name the program to test');
const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, '..', 'node_modules');
const entry = (name) => join(modules, '@modelcontextprotocol', `server-${name}`, 'dist/index.js');

// A folder that stands for somebody's home, with what must not be seen in it.
const home = mkdtempSync(join(tmpdir(), 'jail-home-'));
const work = join(home, 'work');
const secret = join(home, '.ssh', 'id_ed25519');

before(() => {
  mkdirSync(join(home, '.ssh'));
  mkdirSync(work);
  writeFileSync(secret, 'a private key');
  writeFileSync(join(home, 'notes.txt'), 'outside of the grant');
  writeFileSync(join(work, 'a.txt'), 'first\nsecond\n');
  writeFileSync(join(work, 'dot.png'), Buffer.from('iVBORw0KGgo=', 'base64'));
});
after(() => rmSync(home, { recursive: true, force: true }));

// A client of a jailed server. `words` is what came on standard error.
async function jailed(flags, command, options = {}) {
  const transport = new StdioClientTransport({
    command: program,
    args: ['run', ...flags, '--', ...command],
    env: { PATH: process.env.PATH, HOME: home, CLIENT_SECRET: 'do-not-pass' },
    cwd: options.cwd ?? home,
    stderr: 'pipe',
  });
  let words = '';
  transport.stderr.on('data', (chunk) => { words += chunk; });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  try {
    await client.connect(transport);
  } catch (error) {
    error.message += `\nstderr: ${words}`;
    throw error;
  }
  return {
    client,
    pid: transport.pid,
    words: () => words,
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

const text = (result) => result.content.map((item) => item.text ?? '').join('\n');

// Every tool of a server is called once, in this order, and works.
async function callAll(server, calls) {
  const { tools } = await server.client.listTools();
  const called = new Set(calls.map(([name]) => name));
  assert.deepEqual(tools.map((tool) => tool.name).sort(), [...called].sort());
  for (const [name, args, expected] of calls) {
    const result = await server.call(name, args);
    assert.ok(!result.isError, `${name}: ${text(result)}\n${server.words()}`);
    if (expected) assert.match(text(result), expected, name);
  }
}

// Processes of this host whose first argument is `mark`.
function alive(mark) {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] === mark;
    } catch {
      return false;
    }
  });
}

async function goneWithin(mark, milliseconds) {
  const end = Date.now() + milliseconds;
  while (alive(mark).length > 0 && Date.now() < end) await sleep(10);
  return alive(mark).length === 0;
}

describe('servers of others, with the shipped policies', () => {
  test('filesystem: all its tools', async () => {
    const server = await jailed(['--policy', 'filesystem'],
      ['/usr/bin/node', entry('filesystem'), work]);
    const at = (name) => join(work, name);
    await callAll(server, [
      ['list_allowed_directories', {}, /work/],
      ['read_file', { path: at('a.txt') }, /second/],
      ['read_text_file', { path: at('a.txt'), head: 1 }, /first/],
      ['read_media_file', { path: at('dot.png') }],
      ['read_multiple_files', { paths: [at('a.txt'), at('dot.png')] }, /first/],
      ['write_file', { path: at('b.txt'), content: 'one' }],
      ['edit_file', { path: at('b.txt'), edits: [{ oldText: 'one', newText: 'two' }] }, /two/],
      ['create_directory', { path: at('folder/deep') }],
      ['move_file', { source: at('b.txt'), destination: at('folder/c.txt') }],
      ['list_directory', { path: work }, /folder/],
      ['list_directory_with_sizes', { path: work }, /folder/],
      ['directory_tree', { path: work }, /c\.txt/],
      ['search_files', { path: work, pattern: '**/*.txt' }, /c\.txt/],
      ['get_file_info', { path: at('folder/c.txt') }, /size/],
    ]);
    await server.close();
    assert.equal(readFileSync(at('folder/c.txt'), 'utf8'), 'two');
    // What it made belongs to whom the folder belongs.
    assert.equal(statSync(at('folder/c.txt')).uid, statSync(work).uid);
  });

  test('memory: all its tools, and a file that stays when it is granted', async () => {
    const file = join(work, 'memory.jsonl');
    const flags = ['--policy', 'memory', '--write', work, '--env', `MEMORY_FILE_PATH=${file}`];
    const server = await jailed(flags, ['/usr/bin/node', entry('memory')]);
    const relation = { from: 'a', to: 'b', relationType: 'knows' };
    const entity = (name) => ({ name, entityType: 'person', observations: ['tall'] });
    await callAll(server, [
      ['create_entities', { entities: [entity('a'), entity('b')] }],
      ['create_relations', { relations: [relation] }],
      ['add_observations', { observations: [{ entityName: 'a', contents: ['fast'] }] }],
      ['search_nodes', { query: 'fast' }, /fast/],
      ['open_nodes', { names: ['b'] }, /tall/],
      ['read_graph', {}, /knows/],
      ['delete_observations', { deletions: [{ entityName: 'a', observations: ['tall'] }] }],
      ['delete_relations', { relations: [relation] }],
      ['delete_entities', { entityNames: ['b'] }],
    ]);
    await server.close();
    assert.match(readFileSync(file, 'utf8'), /fast/);
  });

  test('everything: all its tools', async () => {
    const server = await jailed(['--policy', 'everything'], ['/usr/bin/node', entry('everything')]);
    const { tools } = await server.client.listTools();
    const calls = {
      echo: { message: 'hello' },
      'get-annotated-message': { messageType: 'success' },
      'get-env': {},
      'get-resource-links': {},
      'get-resource-reference': {},
      'get-structured-content': { location: 'Chicago' },
      'get-sum': { a: 1, b: 2 },
      'get-tiny-image': {},
      'gzip-file-as-resource':
        { name: 'x.gz', data: 'data:text/plain,hello', outputType: 'resource' },
      'toggle-simulated-logging': {},
      'toggle-subscriber-updates': {},
      'trigger-long-running-operation': { duration: 0.2, steps: 2 },
    };
    for (const tool of tools) {
      if (!(tool.name in calls)) {
        assert.equal(tool.execution?.taskSupport, 'required', `${tool.name} is not called`);
        continue;
      }
      const result = await server.call(tool.name, calls[tool.name]);
      assert.ok(!result.isError, `${tool.name}: ${text(result)}`);
      if (tool.name === 'get-env') assert.doesNotMatch(text(result), /CLIENT_SECRET/);
    }
    await server.close();
  });
});

describe('what a server must not do', () => {
  const command = ['/usr/bin/python3', join(here, 'stdlib_server.py')];

  test('who it is', async () => {
    const server = await jailed([], command);
    const facts = JSON.parse(text(await server.call('who')));
    assert.equal(facts.uid, 1000);
    assert.equal(facts.capabilities.trim(), '0000000000000000');
    assert.equal(facts.seccomp.trim(), '2');
    assert.equal(facts.no_new_privs.trim(), '1');
    assert.deepEqual(facts.descriptors, [0, 1, 2]);
    assert.ok(!facts.environment.includes('CLIENT_SECRET'));
    assert.ok(facts.processes.every((pid) => pid < 100), `${facts.processes}`);
    assert.equal(facts.host, 'box');
    assert.equal(facts.folder, '/home/box');
    await server.close();
  });

  test('reads no key, even inside a granted folder, and is told so', async () => {
    const server = await jailed(['--read', home], command);
    assert.match(text(await server.call('read', { path: join(home, 'notes.txt') })), /outside/);
    const result = await server.call('read', { path: secret });
    assert.ok(result.isError);
    assert.doesNotMatch(text(result), /a private key/);
    assert.match(text(result),
      /Refused by the jail: read .*id_ed25519: sensitive.*--allow-sensitive/);
    await server.close();
    assert.match(server.words(), /glovebox: refused: read .*id_ed25519/);
  });

  test('sees nothing that was not granted', async () => {
    const server = await jailed(['--read', work], command);
    const result = await server.call('read', { path: join(home, 'notes.txt') });
    assert.ok(result.isError);
    assert.match(text(result), /No such file/);
    assert.match(text(result),
      /Refused by the jail: read .*notes\.txt: no grant shows it; allow with --read/);
    await server.close();
  });

  test('the reason can be switched off', async () => {
    const server = await jailed(['--read', work, '--no-reasons'], command);
    const result = await server.call('read', { path: join(home, 'notes.txt') });
    assert.ok(result.isError);
    assert.doesNotMatch(text(result), /Refused/);
    await server.close();
  });

  test('writes nowhere but where it may', async () => {
    const server = await jailed(['--read', home, '--write', work], command);
    const fine = await server.call('write', { path: join(work, 'ok'), text: 'x' });
    assert.match(text(fine), /written/);
    for (const [path, why] of [[join(home, 'new.txt'), /read-only/],
      ['/etc/cron.d/x', /no grant|own file/], ['/usr/local/bin/x', /read-only/]]) {
      const result = await server.call('write', { path, text: 'x' });
      assert.ok(result.isError, path);
      assert.match(text(result), /Refused by the jail: write/, path);
      assert.match(text(result), why, path);
      assert.ok(!existsSync(path), path);
    }
    await server.close();
  });

  test('connects nowhere', async () => {
    let connections = 0;
    const listener = createServer(() => { connections += 1; });
    await new Promise((resolve) => { listener.listen(0, '127.0.0.1', resolve); });
    const { port } = listener.address();
    const server = await jailed([], command);
    for (const host of ['127.0.0.1', '192.0.2.1']) {
      const result = await server.call('connect', { host, port });
      assert.ok(result.isError);
      assert.match(text(result),
        new RegExp(`Refused by the jail: connect to ${host}:${port}: .*--net`));
    }
    await server.close();
    listener.close();
    assert.equal(connections, 0);
  });

  test('reaches the host it was granted, and no other', async () => {
    const asked = [];
    const listen = () => new Promise((resolve) => {
      const page = createHttpServer((request, response) => {
        asked.push(request.url);
        response.end('a page');
      });
      page.listen(0, '127.0.0.1', () => resolve(page));
    });
    const [granted, other] = [await listen(), await listen()];
    const url = (page) => `http://127.0.0.1:${page.address().port}/x`;
    const server = await jailed(['--net', `127.0.0.1:${granted.address().port}`], command);
    const fine = await server.call('fetch', { url: url(granted) });
    assert.match(text(fine), /a page/, server.words());
    const refused = await server.call('fetch', { url: url(other) });
    assert.ok(refused.isError);
    assert.match(text(refused),
      new RegExp(`Refused by the jail: connect to 127.0.0.1:${other.address().port}: .*--net`));
    await server.close();
    granted.close();
    other.close();
    assert.deepEqual(asked, ['/x']);
  });

  for (const tool of ['daemon', 'child']) {
    test(`leaves no process behind: ${tool}`, async () => {
      const mark = `jail-left-behind-${tool}-${process.pid}`;
      const server = await jailed([], command);
      assert.match(text(await server.call(tool, { mark })), /started/);
      while (alive(mark).length === 0) await sleep(5);
      await server.close();
      assert.ok(await goneWithin(mark, 3000));
      const end = Date.now() + 3000;
      while (!/left behind/.test(server.words()) && Date.now() < end) await sleep(10);
      assert.match(server.words(), /ended 1 process that the program left behind: sleep/);
    });
  }

  test('what it prints beside the protocol goes to standard error', async () => {
    const server = await jailed([], command);
    assert.match(text(await server.call('noise')), /said/);
    await server.close();
    assert.match(server.words(), /not a message\n\{ nor: this \}/);
  });
});

describe('the life of a server', () => {
  test('its last words are in the answer when it dies at start', async () => {
    await assert.rejects(jailed([], ['/usr/bin/python3', '-c',
      'import sys; sys.stdin.readline(); sys.exit("cannot find its settings")']),
    /exit code 1.*cannot find its settings/s);
  });

  test('it dies with a client that is killed', async () => {
    const mark = `jail-orphan-${process.pid}`;
    const words = JSON.stringify([program, ['run', '--', '/bin/bash', '-c',
      `exec -a ${mark} sleep 600`]]);
    const client = spawn(process.execPath, ['--input-type=module', '-e',
      `import {spawn} from 'node:child_process'; spawn(...${words}, {stdio: 'pipe'});`]);
    const end = Date.now() + 10_000;
    while (alive(mark).length === 0 && Date.now() < end) await sleep(5);
    assert.equal(alive(mark).length, 1);
    client.kill('SIGKILL');
    assert.ok(await goneWithin(mark, 3000));
  });
});
