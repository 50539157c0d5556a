import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from 'mcp-parley';
import { start, temporaryFolder, TSX } from './parley.js';
import { flowsServer } from './servers/flows.js';
import { scripted, serve, toolsResult, type Loopback } from './servers/http.js';

/*
 * The command as people run it: a process of its own, which talks to servers over HTTP and stdio. Its packages are
 * those that were built.
 */

const folder = temporaryFolder();
const KEYS = generateKey();
let server: Loopback;
beforeAll(async () => void (server = await serve(flowsServer(KEYS))));
afterAll(() => server.close());

const PROGRAM = fileURLToPath(new URL('servers/program.mjs', import.meta.url));
const FLOWS = fileURLToPath(new URL('servers/stdio.ts', import.meta.url));

/** A server that is a program, behind `--`. */
function program(...how: string[]): string[] {
  return ['--', process.execPath, PROGRAM, ...how];
}

let count = 0;

function file(content: unknown): string {
  const path = join(folder, `file-${(count += 1)}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const HELLO = { q: { text: 'Ann' } };

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('parley, as a process', () => {
  it('calls over HTTP', async () => {
    const answers = file({ region: { region: 'eu' }, go: { confirm: true } });
    const { code, out } = await start(['call', server.url, 'deploy', 'env=prod', '--answers', answers]);
    expect({ code, out }).toEqual({ code: 0, out: 'Deployed 1 to prod in eu.\n' });
  });

  it('saves, and another process in another folder goes on', async () => {
    const flow = join(folder, 'flow.json');
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    const saved = await start(['call', server.url, 'deploy', 'env=prod', '--save', 'flow.json'], {
      cwd: folder,
    });
    expect(saved).toMatchObject({ code: 4, out: '' });
    const answers = file({ region: { region: 'us' }, go: { confirm: true } });
    const resumed = await start(['resume', '../flow.json', '--answers', answers], { cwd: elsewhere });
    expect(resumed).toMatchObject({ code: 0, out: 'Deployed 1 to prod in us.\n' });
    expect(existsSync(flow)).toBe(false);
  });

  it('killed in the middle of a round, another process knows that it was sent', async () => {
    let isWorking = (): void => undefined;
    const working = new Promise<void>((resolve) => (isWorking = resolve));
    const slow = await scripted(({ method, params }) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      if (params['requestState'] === undefined)
        return { resultType: 'input_required', requestState: 'first' };
      isWorking();
      return undefined;
    });
    const flow = join(folder, 'killed.json');
    const call = start(['call', slow.url, 't', '--save', flow]);
    await working;
    call.kill('SIGKILL');
    expect(await call).toMatchObject({ code: null });
    const { code, err } = await start(['resume', flow]);
    expect(code).toBe(5);
    expect(err).toContain('and not answered, so whether it took effect is not known');
    await slow.close();
  });

  it('with nobody at the terminal fails at once', async () => {
    const { code, out, err } = await start(['call', server.url, 'deploy', 'env=prod']);
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('There is no terminal to ask at.');
  });

  it('takes arguments from stdin', async () => {
    const { out } = await start(['call', server.url, 'echo', '--json', '-'], { stdin: '{"text":"in"}' });
    expect(out).toBe('{"text":"in"}\n');
  });

  it('a reader that leaves early is no fault', async () => {
    const call = start(['call', server.url, 'large']);
    call.hangUp();
    expect(await call).toMatchObject({ code: 0, err: '' });
  });

  it('a fault of its own shows no message, which may hold a secret', async () => {
    const faulty = join(folder, 'faulty.mjs');
    const listener = "(name) => name === 'uncaughtException' && setImmediate(fail)";
    writeFileSync(
      faulty,
      `process.on('newListener', ${listener});\nfunction fail() { throw new Error('token-0123456789'); }\n`,
    );
    const env = { NODE_OPTIONS: `--import=${faulty}` };
    const ran = await start(['tools', server.url], { env });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^parley: This is a fault of parley itself \(Error\)\.\n/);
    expect(ran.err).not.toContain('token');
  });

  it('makes harmless what the official client writes to the console, and keeps it off stdout', async () => {
    const evil = 'bad\u001b[2J\u009b31m\u202e';
    const schema = { type: 'object', properties: { x: { type: 'object', 'x-mcp-header': 'X' } } };
    const hostile = await scripted(() => toolsResult({ name: evil, inputSchema: schema }, { name: 'good' }));
    const { code, out, err } = await start(['tools', hostile.url]);
    await hostile.close();
    expect({ code, out }).toEqual({ code: 0, out: 'good\n' });
    expect(err).toContain(String.raw`bad\u001b[2J\u009b31m\u202e`);
    expect(err).not.toContain('\u001b');
  });
});

describe('a server that is a program', () => {
  it('is started, asked and ended; its stderr is not shown', async () => {
    const pidFile = join(folder, 'pid');
    const env = { GREETING: 'from the shell' };
    const args = ['call', 't', '--quiet', '--answers', file(HELLO), ...program('well', pidFile)];
    expect(await start(args, { env })).toEqual({ code: 0, out: 'Hello Ann, from the shell.\n', err: '' });
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('may come first, before a second --', async () => {
    const args = ['call', '--answers', file(HELLO), ...program(), '--', 't'];
    expect(await start(args)).toMatchObject({ code: 0, out: 'Hello Ann, nothing more.\n' });
  });

  it('made with the library works the same', async () => {
    const answers = file({ region: { region: 'eu' }, go: { confirm: true } });
    const words = ['--', process.execPath, '--import', TSX, FLOWS];
    const args = ['call', 'deploy', 'env=staging', '--answers', answers, ...words];
    const { code, out } = await start(args, { env: { PARLEY_KEYS: KEYS } });
    expect({ code, out }).toEqual({ code: 0, out: 'Deployed 1 to staging in eu.\n' });
  });

  it('is started again to go on, when the person says so', async () => {
    const flow = join(folder, 'program.json');
    const saved = await start(['call', 't', '--save', flow, ...program()]);
    expect(saved.code).toBe(4);
    expect(saved.err).toContain(`parley resume ${flow} -- ${process.execPath} ${PROGRAM}\n`);
    const resumed = await start(['resume', flow, '--answers', file(HELLO), ...program()]);
    expect(resumed).toMatchObject({ code: 0, out: 'Hello Ann, nothing more.\n' });
  });

  it('with --verbose shows its stderr, harmless', async () => {
    const { err } = await start(['tools', '--verbose', ...program()]);
    expect(err).toBe(String.raw`Up. \u001b[31mRed.\u202e` + '\n');
  });

  it.each([
    [
      'ends at once',
      'ends',
      /No connection to .*: the program ended\.\nThe program wrote last:\n.*\n {2}There is no/,
    ],
    [
      'writes something else to stdout',
      'garbage',
      /did not answer within 0\.5 s .*Does the program speak MCP/,
    ],
  ])('that %s: code 1, and why', async (_, how, message) => {
    const { code, out, err } = await start(['tools', '--timeout', '500ms', ...program(how)]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain('\u001b');
  });

  it('that is not there: code 1', async () => {
    const { code, err } = await start(['tools', '--', 'no-such-program-anywhere']);
    expect(code).toBe(1);
    expect(err).toContain('there is no program no-such-program-anywhere');
  });

  it('that dies on the retry: code 5, with its last words', async () => {
    const { code, err } = await start(['call', 't', '--answers', file(HELLO), ...program('dies')]);
    expect(code).toBe(5);
    expect(err).toContain('round 2 was sent, and then the program ended.');
    expect(err).toContain('  Out of memory.\n');
    expect(err).not.toContain('state-of-the-program');
  });

  it('whose child holds the pipes keeps nobody waiting', async () => {
    const { code, out } = await start([
      'call',
      't',
      '--quiet',
      '--answers',
      file(HELLO),
      ...program('holds'),
    ]);
    expect({ code, out }).toEqual({ code: 0, out: 'Hello Ann, nothing more.\n' });
  });

  it('that does not leave is made to', async () => {
    const pidFile = join(folder, 'stays');
    await start(['tools', ...program('stays', pidFile)]);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('that never answers is ended too', async () => {
    const pidFile = join(folder, 'mute');
    const { code } = await start(['tools', '--timeout', '300ms', ...program('mute', pidFile)]);
    expect(code).toBe(1);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the call, and the program', async (signal, code) => {
    const pidFile = join(folder, signal);
    const call = start(['call', 't', '--verbose', ...program('hangs', pidFile)]);
    await call.saying('Up.');
    call.kill(signal);
    const { code: ended, err } = await call;
    expect(ended).toBe(code);
    expect(err).toMatch(/parley: Stopped/);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });
});
