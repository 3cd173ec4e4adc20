// What every client must find, however it is connected.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { busyBelow, goneWithin } from './support.mjs';

// `connect` opens a session: { client, call(name, args, options), serverPid, problems, noise(),
// close() }. `problems` collects what the client complained about, `noise` what the server said
// beyond the protocol.
export function describeServer(title, connect) {
  describe(title, { timeout: 120_000 }, () => {
    let session;
    const run = (args, options) => session.call('execute_code', args, options);

    before(async () => {
      session = await connect();
      // The client checks structuredContent against the schemas it has seen.
      await session.client.listTools();
    });
    after(async () => {
      await session?.close();
    });

    it('says who it is', () => {
      const server = session.client.getServerVersion();
      assert.equal(server.name, 'glovebox');
      assert.match(server.version, /^\d+\.\d+\.\d+$/);
      assert.ok(session.client.getServerCapabilities().tools);
      assert.match(session.client.getInstructions(), /execute_code/);
    });

    it('lists tools with schemas the client accepts', async () => {
      const { tools } = await session.client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name).sort(),
        ['execute_code', 'get_sandbox_info', 'list_capabilities', 'run_python_code',
          'validate_code']);
      for (const tool of tools) {
        assert.ok(tool.description.length > 100, tool.name);
        assert.equal(tool.inputSchema.type, 'object');
        assert.equal(tool.inputSchema.additionalProperties, false);
        // The answer of run_python_code is text, as its clients know it.
        assert.equal(tool.outputSchema?.type,
          tool.name === 'run_python_code' ? undefined : 'object', tool.name);
        assert.equal(tool.annotations.destructiveHint, false);
      }
      const execute = tools.find((tool) => tool.name === 'execute_code');
      assert.deepEqual(execute.inputSchema.required, ['code']);
    });

    it('prints', async () => {
      const { structuredContent, content, isError } = await run({ code: 'print(2+2)' });
      assert.ok(!isError);
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
      assert.ok(!isError);
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

    it('validates code without running it', async () => {
      const good = await session.call('validate_code', { code: 'print(1)' });
      assert.equal(good.structuredContent.valid, true);
      const bad = await session.call('validate_code', { code: 'x = 1\nprint(' });
      assert.ok(!bad.isError);
      assert.equal(bad.structuredContent.valid, false);
      assert.equal(bad.structuredContent.line, 2);
      assert.match(bad.structuredContent.error, /^Syntax error: /);
    });

    it('says what the sandbox offers', async () => {
      const { structuredContent, isError } = await session.call('get_sandbox_info', {});
      assert.ok(!isError);
      assert.equal(structuredContent.timeout_seconds, 30);
      assert.equal(structuredContent.max_output_size, 1048576);
      assert.equal(structuredContent.security_capabilities.network_enabled, false);
      assert.ok(structuredContent.allowed_imports.safe_stdlib.includes('math'));
    });

    it('ends a run at its timeout', async () => {
      const start = Date.now();
      const { structuredContent } = await run({ code: 'while True: pass', timeout: 1 });
      assert.equal(structuredContent.status, 'timed_out');
      assert.match(structuredContent.error, /^Execution timed out after 1 seconds/);
      assert.ok(Date.now() - start < 5000);
    });

    it('cancels a run, which kills the box, and stays usable', async () => {
      const abort = new AbortController();
      const pending = run({ code: 'while True: pass', timeout: 60 }, { signal: abort.signal });
      const rejected = assert.rejects(pending, /abort/i);
      const busy = await busyBelow(session.serverPid);
      assert.ok(busy.length > 0, 'the code does not run');
      abort.abort();
      await rejected;
      for (const pid of busy) assert.ok(await goneWithin(pid, 1000), 'the box outlived its call');
      const { structuredContent } = await run({ code: '1 + 1' });
      assert.equal(structuredContent.result, 2);
    });

    it('runs two calls at the same time', async () => {
      const code = 'import time\nstart = time.time()\ntime.sleep(1.5)\n[start, time.time()]';
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
        profile: 'full',
      });
      assert.equal(structuredContent.result, text);
      assert.ok(structuredContent.stdout.startsWith(`${text}\n`));
    });

    it('reports output as progress while the code runs', async () => {
      const reports = [];
      const { structuredContent } = await run(
        { code: "import time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.3)" },
        { onprogress: (report) => reports.push({ ...report, at: Date.now() }) },
      );
      const end = Date.now();
      assert.equal(reports.map((report) => report.message).join(''), structuredContent.stdout);
      assert.ok(reports.length >= 2, 'everything came at once');
      assert.ok(end - reports[0].at > 400, 'nothing came before the end');
      for (let i = 1; i < reports.length; i += 1) {
        assert.ok(reports[i].progress > reports[i - 1].progress);
      }
    });

    it('refuses a tool it does not have', async () => {
      await assert.rejects(session.call('no_such_tool', {}), /Unknown tool: no_such_tool/);
    });

    it('wrote nothing that is not protocol, and nothing to stderr', () => {
      assert.deepEqual(session.problems, []);
      assert.equal(session.noise(), '');
    });
  });
}
