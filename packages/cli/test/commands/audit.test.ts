import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { parley, stoppable, temporaryFolder } from '../parley.js';
import { startServer } from '../servers/harness.js';
import { asks, done, form, scripted, toolsResult } from '../servers/http.js';

const folder = temporaryFolder();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

type Faults = Parameters<typeof startServer>[0];

async function server(faults: Faults = {}) {
  const started = await startServer(faults);
  open.push(started);
  return started;
}

/** Takes whatever is JSON in base64url for its own state. */
const UNSIGNED: Faults = {
  codec: {
    encode: (state) => Buffer.from(JSON.stringify(state)).toString('base64url'),
    decode: (text) => {
      try {
        return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as never;
      } catch {
        return undefined;
      }
    },
  },
};

const USERS = ['--as', 'Authorization: Bearer ann-of-main', '--other', 'Authorization: Bearer ben-of-other'];

describe('parley audit', () => {
  it('finds nothing in a good server: code 0, with the summary, and what it will do told before', async () => {
    const { url, world } = await server();
    const args = [
      'audit',
      url,
      '--tool',
      'transfer',
      ...USERS,
      '--only',
      'state-invented',
      '--only',
      'state-kind',
    ];
    const { code, out, err } = await parley(args);
    expect(out).toContain('No fault was found');
    expect(err).toMatch(/2 attacks call transfer for real, /);
    expect({ code, isCalled: world.effects > 0 }).toEqual({ code: 0, isCalled: true });
  });

  it('finds an unsigned state: code 1, reports in files, and no state, answer or header in any of them', async () => {
    const { url } = await server(UNSIGNED);
    const files = ['a.html', 'a.json', 'a.sarif'].map((name) => join(folder, name));
    const answers = join(folder, 'answers.json');
    writeFileSync(
      answers,
      JSON.stringify({ payment: { to: 'somebody-of-mine', amount: 5, currency: 'EUR' } }),
    );
    const reports = files.flatMap((file) => ['--report', file]);
    const only = ['--only', 'state-rewritten', '--only', 'state-readable'];
    const args = ['audit', url, '--tool', 'transfer', '--answers', answers];
    const { code, out, err } = await parley([...args, ...USERS, ...only, ...reports]);
    expect(code).toBe(1);
    expect(err).toMatch(/findings? (is|are) medium or worse \(--fail-on\)/);
    expect(out).toContain('state-rewritten');
    for (const text of [out, err, ...files.map((file) => readFileSync(file, 'utf8'))]) {
      // A state is a JSON object in base64url: its beginning is shown, and no more.
      for (const secret of [/ann-of-main/, /ben-of-other/, /somebody-of-mine/, /eyJ[\w-]{20}/]) {
        expect(text).not.toMatch(secret);
      }
    }
  });

  it('passes over what is below --fail-on', async () => {
    const { url } = await server(UNSIGNED);
    const args = ['audit', url, '--tool', 'transfer', '--only', 'state-readable', '--fail-on', 'critical'];
    expect((await parley(args)).code).toBe(0);
  });

  it('audits a program, and ends it', async () => {
    const program = fileURLToPath(new URL('../audit/wire/asking-program.mjs', import.meta.url));
    const args = ['audit', '--tool', 'ask', '--only', 'state-invented', '--', process.execPath, program];
    const { code, out, err } = await parley(args, { env: process.env });
    expect({ code, err: err.split('\n').slice(1) }).toEqual({ code: 0, err: [''] });
    expect(out).toContain('tool ask');
  });

  it('lists the attacks, without a server', async () => {
    const { code, out } = await parley(['audit', '--list']);
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line !== '')).toHaveLength(ATTACKS.length);
  });

  it('says why a server cannot be audited: code 1', async () => {
    const { url } = await server();
    const { code, err } = await parley(['audit', url, '--tool', 'count']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('count asks nothing') as string });
  });

  it('says when the flow does not end well, and attacks what there is', async () => {
    let nth = 0;
    const scriptedServer = await scripted(({ method }) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      if (method !== 'tools/call') return { code: -32_601, message: 'no' };
      return (nth += 1) === 1 ? asks({ q: form('Q?') }, 'state') : { ...done('x'), isError: true };
    });
    open.push(scriptedServer);
    const { err } = await parley(['audit', scriptedServer.url, '--tool', 't', '--only', 'state-kind']);
    expect(err).toContain("ends in the tool's error after round 1");
  });

  it('stops on a signal: code 130', async () => {
    const { onStop, stop } = stoppable();
    const scriptedServer = await scripted(({ method }) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      stop('SIGINT');
      return asks({ q: form('Q?') }, 'state');
    });
    open.push(scriptedServer);
    const { code, err } = await parley(['audit', scriptedServer.url, '--tool', 't'], { onStop });
    expect({ code, err }).toEqual({
      code: 130,
      err: expect.stringContaining('Stopped by Ctrl-C.') as string,
    });
  });

  const HERE = 'http://127.0.0.1:9/mcp';
  it.each([
    ['no server', ['--tool', 't'], 'Name the server'],
    ['no tool', [HERE], 'Name a tool that asks'],
    ['two servers', [HERE, '--tool', 't', '--', 'node'], 'Name one server'],
    ['an attack that there is not', [HERE, '--tool', 't', '--only', 'x'], '--list lists them'],
    ['a severity that there is not', [HERE, '--tool', 't', '--fail-on', 'x'], 'Allowed choices'],
    ['a report without a format', [HERE, '--tool', 't', '--report', 'x.txt'], '.html, .json or .sarif'],
    ['arguments that are none', [HERE, '--tool', 't', '--json', '[]'], 'not an object'],
    ['answers that are not there', [HERE, '--tool', 't', '--answers', '/no/such/file'], 'is not there'],
    ['arguments of no probe', [HERE, '--tool', 't', '--probe-json', '{}'], '--probe-json is for --probe'],
    [
      'a header that is none',
      [HERE, '--tool', 't', '--as', 'secret-in-the-wrong-place'],
      '--as number 1 is not',
    ],
    ['a header of the protocol', [HERE, '--tool', 't', '--as', 'Mcp-Name: x'], 'not yours to set'],
    ['callers that are one', [HERE, '--tool', 't', '--as', 'X-K: 1', '--other', 'X-K=1'], 'are the same'],
    ['a caller of a program', ['--tool', 't', '--as', 'X-K: 1', '--', 'node'], 'one caller only'],
    ['a token in clear text', ['http://example.com/mcp', '--tool', 't', '--as', 'X-K: 1'], 'in clear text'],
    ['a variable without a token', [HERE, '--tool', 't', '--bearer-env', 'NONE'], 'NONE holds no token'],
  ])('is called in a wrong way with %s: code 2, and no secret is told', async (_, args, reason) => {
    const { code, out, err } = await parley(['audit', ...args]);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(reason) as string });
    expect(err).not.toContain('secret-in-the-wrong-place');
  });
});
