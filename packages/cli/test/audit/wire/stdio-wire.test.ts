import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import type { WireRequest } from '../../../src/audit/wire/message.js';
import { StdioWire } from '../../../src/audit/wire/stdio-wire.js';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));

const open: StdioWire[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function wire({ timeoutMs = 5000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}): StdioWire {
  const made = new StdioWire({
    command: [process.execPath, PROGRAM],
    env: process.env,
    timeoutMs,
    ...(signal !== undefined && { signal }),
  });
  open.push(made);
  return made;
}

function call(name: string): WireRequest {
  return { method: 'tools/call', params: { name }, caller: 'main' };
}

it('gives each request its response, whatever their order', async () => {
  const program = wire();
  const replies = await Promise.all(['late', 'a', 'b'].map((name) => program.send(call(name))));
  expect(replies.map(({ result }) => result?.['name'])).toEqual(['late', 'a', 'b']);
});

it('passes over what is no message, counts it, and sees requests that must not be there', async () => {
  const program = wire();
  const { result, serverRequests } = await program.send(call('chatty'));
  expect({ name: result?.['name'], serverRequests }).toEqual({
    name: 'chatty',
    serverRequests: ['roots/list'],
  });
  expect(program.strayLines).toBe(1);
});

it('starts a program again that died: the requests under way fail, the next one does not', async () => {
  const program = wire();
  const [first, second] = await Promise.all([program.send(call('silent')), program.send(call('die'))]);
  expect(first.failure).toBe('the program ended (3): Out of ideas.');
  expect(second.failure).toBe(first.failure);
  expect((await program.send(call('a'))).result).toMatchObject({ name: 'a', served: 1 });
});

it('has one caller', async () => {
  const { failure } = await wire().send({ ...call('a'), caller: 'other' });
  expect(failure).toBe('a program has one caller only');
});

it('fails for a program that is not there, that is silent, and that never ends its line', async () => {
  const none = new StdioWire({ command: ['/no/such/program'], env: {}, timeoutMs: 5000 });
  open.push(none);
  expect((await none.send(call('a'))).failure).toBe('the program cannot be started (ENOENT)');
  expect((await wire({ timeoutMs: 30 }).send(call('silent'))).failure).toBe('no response within 0.03 s');
  expect((await wire().send(call('endless'))).failure).toBe('more than 8 MiB in a line');
});

it('rejects with the reason of its signal', async () => {
  const stop = new AbortController();
  const reply = wire({ signal: stop.signal }).send(call('silent'));
  stop.abort(new Error('stopped'));
  await expect(reply).rejects.toThrow('stopped');
});

it('ends the program, one that does not want to leave too', async () => {
  const program = wire();
  const { result } = await program.send(call('stubborn'));
  const pid = Number(result?.['pid']);
  expect(process.kill(pid, 0)).toBe(true);
  await program.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

it('prints a request as the line that it is', () => {
  expect(wire().print(call('a'))).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}',
  );
});

it.runIf(process.platform !== 'win32')('ends what the program has started, too', async () => {
  const program = wire();
  const { result } = await program.send(call('parent'));
  const child = Number(result?.['child']);
  expect(isThere(child)).toBe(true);
  await program.close();
  await expect.poll(() => isThere(child)).toBe(false);
});

it.runIf(process.platform !== 'win32')('ends what a program that died has started', async () => {
  const program = wire();
  const { result } = await program.send(call('parent'));
  await program.send(call('die'));
  await program.close();
  await expect.poll(() => isThere(Number(result?.['child']))).toBe(false);
});

it('is not held up by a program that floods both of its pipes', async () => {
  const { result } = await wire().send(call('flood'));
  expect(result?.['name']).toBe('flood');
});

/** Whether a process runs: one that has ended, and that nobody has asked about, is still listed. */
function isThere(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)]);
  return /^[^Z\s]/.test(stdout.toString());
}
