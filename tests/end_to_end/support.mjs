// What the tests with real clients share: the program as a server, and a look at its processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const program = process.env.GLOVEBOX;
assert.ok(program, 'GLOVEBOX must name the program to test');

const startMillisecondsMax = 20_000;
const stopMillisecondsMax = 10_000;

// Starts `glovebox serve` on a free loopback port. `stop` ends it and says with which code.
export async function serveHttp({ args = [], env = {} } = {}) {
  const child = spawn(program, ['serve', '--transport', 'http', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => { child.once('exit', (code) => resolve(code)); });
  let words = '';
  child.stdout.on('data', (chunk) => { words += `unexpected on stdout: ${chunk}`; });
  child.stderr.on('data', (chunk) => { words += chunk; });
  const address = () => words.match(/http:\/\/[\w.[\]:]+:\d+[\w/]*/)?.[0];
  const deadline = Date.now() + startMillisecondsMax;
  while (!address() && child.exitCode === null && Date.now() < deadline) await sleep(5);
  if (!address()) {
    child.kill('SIGKILL');
    assert.fail(`the server named no address: ${words}`);
  }
  return {
    pid: child.pid,
    url: new URL('/mcp', address()),
    words: () => words,
    stop: async () => {
      child.kill('SIGTERM');
      const late = sleep(stopMillisecondsMax, 'still alive', { ref: false });
      const code = await Promise.race([ended, late]);
      child.kill('SIGKILL');
      return code;
    },
  };
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function goneWithin(pid, milliseconds) {
  const end = Date.now() + milliseconds;
  while (isAlive(pid) && Date.now() < end) await sleep(10);
  return !isAlive(pid);
}

// pid -> { parent, ticks } of everything that runs.
function processes() {
  const found = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, 'latin1').split(') ').pop().split(' ');
      found.set(Number(entry), {
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
      });
    } catch {
      // It ended in between.
    }
  }
  return found;
}

function descends(all, pid, ancestor) {
  for (let at = all.get(pid); at; at = all.get(at.parent)) if (at.parent === ancestor) return true;
  return false;
}

// The descendants of `ancestor` that compute: code that spins in a box is one of them.
export async function busyBelow(ancestor) {
  const before = processes();
  await sleep(300);
  const after = processes();
  return [...after.keys()].filter((pid) => descends(after, pid, ancestor)
    && after.get(pid).ticks - (before.get(pid)?.ticks ?? 0) >= 5);
}
