import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { memoryLedger, type ParleyOptions } from 'mcp-parley';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  accept,
  instance,
  stateOf,
  TEST_KEY,
  type Instance,
} from '../../../parley/test/gate/wire-harness.js';
import { vectors } from '../../../parley/test/seal/vectors.js';
import { parley, TERMINAL, type Ran, type Surroundings as Given } from '../parley.js';

const NOON = Date.UTC(2026, 6, 28, 12);
const MINUTE = 60_000;
const OTHER_KEY = 'parley_key_8wArIFzqXklysBVhBTgKrc7jxMJ4AWTIbNM_x0cRIJo';

const folder = mkdtempSync(join(tmpdir(), 'parley-inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Surroundings = Pick<Given, 'stdin' | 'env' | 'terminal'> & { readonly now?: number };

const ENV = { PARLEY_KEYS: TEST_KEY, PARLEY_AUDIENCE: 'wire-test' };

/** Runs `parley inspect`, with everything injected. */
function inspect(
  args: readonly string[],
  { env = ENV, now = NOON, ...rest }: Surroundings = {},
): Promise<Ran> {
  return parley(['inspect', ...args], { env, now: () => now, ...rest });
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A server whose flow records under these keys, and then asks. */
function recording(entries: Readonly<Record<string, unknown>>, options: ParleyOptions = {}): Instance {
  return instance(
    (flows) => {
      flows.registerTool('deploy', { version: '7' }, async (flow) => {
        for (const [key, value] of Object.entries(entries)) await flow.step(key, () => value as string);
        await flow.form('region', { message: 'Where?', schema: z.object({ region: z.string() }) });
        await flow.uuid();
        await flow.confirm('go', 'Go?');
        return { content: [] };
      });
    },
    { now: () => NOON, ...options },
  );
}

async function firstState(
  entries: Readonly<Record<string, unknown>> = { build: 'secret' },
  options: ParleyOptions = {},
): Promise<string> {
  return stateOf(await recording(entries, options).call('tools/call', 'deploy'));
}

async function secondState(): Promise<string> {
  const server = recording({ build: 'secret build' });
  const first = stateOf(await server.call('tools/call', 'deploy'));
  const inputResponses = { region: accept({ region: 'secret region' }) };
  return stateOf(await server.call('tools/call', 'deploy', { requestState: first, inputResponses }));
}

/** No twelve characters of a secret stand in a text. */
function expectNothingOf(secret: string, text: string): void {
  for (let at = 0; at + 12 <= secret.length; at += 1) expect(text).not.toContain(secret.slice(at, at + 12));
}

describe('parley inspect', () => {
  it('tells claims with their ages, and the journal as a table', async () => {
    const token = await secondState();
    const { code, out, err } = await inspect([token], { now: NOON + 3 * MINUTE });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(
      out
        .replace(/[\w-]{22}$/m, 'FLOW')
        .replace(/[\da-f]{8},/, 'KID,')
        .replace(/[\da-f]{12}…/, 'DIGEST…'),
    ).toBe(
      `Token      ${token.length} bytes, of a flow
Key        KID, number 1 of the ring, the one that seals now
Flow       FLOW
Round      2
Issued     2026-07-28T12:00:00.000Z, 3 min ago
Expires    2026-07-28T12:10:00.000Z, in 7 min
Deadline   2026-07-29T12:00:00.000Z, in 23 h
Version    7
Principal  nobody (the caller was not signed in)
Request    DIGEST… (digest)
Trace      none
Questions  go
Journal    3 entries, 265 bytes

  KEY             KIND      BYTES
  build           step         52
  region          answer      134
  (after region)  uuid         79

Values are not shown. --reveal shows them.
`,
    );
  });

  it('shows values when asked, on one line each', async () => {
    const { out } = await inspect([await secondState(), '--reveal']);
    expect(out).toContain('  build           step         52\n      {"value":"secret build"}\n');
    expect(out).toContain('"content":{"region":"secret region"}');
    expect(out).not.toContain('--reveal');
  });

  it.each([
    [NOON + 10 * MINUTE, 'Expires    2026-07-28T12:10:00.000Z, just now'],
    [NOON + 13 * MINUTE, 'Expires    2026-07-28T12:10:00.000Z, expired 3 min ago'],
    [NOON + 26 * 60 * MINUTE, 'Deadline   2026-07-29T12:00:00.000Z, passed 2 h ago'],
  ])('opens a token whose time is over', async (now, line) => {
    const { code, out } = await inspect([await firstState()], { now });
    expect(code).toBe(0);
    expect(out).toContain(line);
  });

  it('says which key of the ring opened it', async () => {
    const env = { ...ENV, PARLEY_KEYS: `${OTHER_KEY}, ${TEST_KEY}` };
    const { out } = await inspect([await firstState()], { env });
    expect(out).toMatch(/^Key {8}[\da-f]{8}, number 2 of the ring, not the one that seals now$/m);
  });

  it('says that a journal is in the ledger', async () => {
    const token = await firstState({ large: 'x'.repeat(100_000) }, { ledger: memoryLedger() });
    const { code, out } = await inspect([token]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Journal {4}in the ledger, because it is too large[^]*under the reference [\w-]{22}$/m,
    );
  });

  it.each([0, 1, 200])('prints a journal of %i entries', async (count) => {
    const entries = Object.fromEntries(Array.from({ length: count }, (_, index) => [`step ${index}`, index]));
    const { out } = await inspect([await firstState(entries)]);
    expect(out.match(/^ {2}step \d+ +step +\d+$/gm) ?? []).toHaveLength(count);
    expect(out).toMatch(count === 0 ? /^Journal {4}empty$/m : new RegExp(`^Journal {4}${count} entr`, 'm'));
  });

  it('opens the test vector of the token format, with what it says', async () => {
    const vector = vectors.tokens.find(({ name }) => name === 'claims') ?? expect.fail('no such vector');
    const env = { PARLEY_KEYS: vector.root, PARLEY_AUDIENCE: vector.audience };
    const { code, out } = await inspect([vector.token], { env, now: Date.UTC(2026, 7, 1, 0, 13) });
    expect(code).toBe(0);
    expect(out).toContain(`Key        ${vector.kid}, number 1`);
    expect(out).toContain('Round      2\n');
    expect(out).toContain('Expires    2026-08-01T00:10:00.000Z, expired 3 min ago');
    expect(out).toContain('Principal  50178d855a07… (digest)');
    expect(out).toMatch(/^ {2}\(none\) {2}\(not known\) +35$/m);
  });

  it('prints JSON with all that is there, for programs', async () => {
    const token = await secondState();
    const { code, out } = await inspect([token, '--output', 'json', '--reveal']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      outcome: 'opened',
      bytes: token.length,
      round: 2,
      expires: NOON + 10 * MINUTE,
      questions: [{ key: 'go', attempts: 0, changes: 0 }],
      contents: { in: 'token', entries: [{ key: 'build', recorded: { value: 'secret build' } }, {}, {}] },
    });
  });

  it('prints help with examples, and says what a token on the command line means', async () => {
    const { code, out } = await inspect(['--help']);
    expect(code).toBe(0);
    expect(out).toContain('$ parley inspect --audience releases --flow flow.json');
    expect(out).toContain('everybody on this machine can see');
    expect(out).not.toMatch(/--keys? /);
  });
});

describe('where the token comes from', () => {
  it('stdin, with a word to the person at a terminal', async () => {
    const token = await firstState();
    expect(await inspect(['-'], { stdin: `${token}\n` })).toMatchObject({ code: 0, err: '' });
    const { code, err } = await inspect(['-'], { stdin: token, terminal: TERMINAL });
    expect(code).toBe(0);
    expect(err).toMatch(/Ctrl-D/);
  });

  it('a file: the token, a response, an event stream', async () => {
    const requestState = await firstState();
    const response = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { requestState } });
    for (const text of [
      requestState,
      `${requestState}\r\n`,
      response,
      `event: message\ndata: ${response}\n\n`,
    ]) {
      expect(await inspect(['--file', file('given', text)])).toMatchObject({ code: 0, err: '' });
    }
  });

  it('a request, against which it is held', async () => {
    const requestState = await firstState();
    const sent = (name: string) =>
      JSON.stringify({ method: 'tools/call', params: { name, arguments: {}, requestState } });
    const same = await inspect(['--file', file('same.json', sent('deploy'))]);
    expect(same.out).toMatch(/^Request {4}.*, that of the request given$/m);
    const other = await inspect(['-'], { stdin: sent('destroy') });
    expect(other.out).toMatch(/^Request {4}.*, NOT that of the request given: rejected there \(request\)$/m);
  });

  it('a saved flow, with the request in it', async () => {
    const requestState = await firstState();
    const request = { method: 'tools/call', params: { name: 'deploy' } };
    const flow = file(
      'flow.json',
      JSON.stringify({ format: 'parley-flow', version: 1, request, requestState }),
    );
    const { code, out } = await inspect(['--flow', flow]);
    expect(code).toBe(0);
    expect(out).toContain(', that of the request given');
  });

  it.each([
    ['nowhere', [], /Give one token/],
    ['two places', ['parley1.A', '--file', 'x'], /Give one token/],
    ['a file that is not there', ['--file', join(folder, 'none')], /--file names is not there\./],
    ['a folder', ['--file', folder], /--file names is a folder/],
  ])('%s is wrong use', async (_, args, message) => {
    const { code, out, err } = await inspect(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain(folder);
  });

  it('text with no state in it is a failure', async () => {
    expect(await inspect(['-'], { stdin: '{"result":{}}' })).toMatchObject({ code: 1, out: '' });
    const flow = file('other.json', '{"format":"other","requestState":"parley1.A"}');
    const { code, err } = await inspect(['--flow', flow]);
    expect(code).toBe(1);
    expect(err).toMatch(/no saved flow with a state/);
  });
});

describe('where the keys and the audience come from', () => {
  it('another variable, or a file', async () => {
    const token = await firstState();
    const env = { MY_KEYS: TEST_KEY, PARLEY_AUDIENCE: 'wire-test', PARLEY_KEYS: OTHER_KEY };
    expect(await inspect([token, '--keys-env', 'MY_KEYS'], { env })).toMatchObject({ code: 0 });
    const keys = file('keys', `${OTHER_KEY}\n${TEST_KEY}\n`);
    expect(await inspect([token, '--keys-file', keys], { env })).toMatchObject({ code: 0 });
  });

  it('an option says the audience, before the environment', async () => {
    const token = await firstState();
    const env = { PARLEY_KEYS: TEST_KEY, PARLEY_AUDIENCE: 'other' };
    expect(await inspect([token, '--audience', 'wire-test'], { env })).toMatchObject({ code: 0 });
    expect(await inspect([token], { env })).toMatchObject({ code: 1 });
  });

  it.each([
    ['no keys', {}, [], /PARLEY_KEYS is not set.*--keys-file/],
    ['empty keys', { PARLEY_KEYS: ' ' }, [], /PARLEY_KEYS is not set/],
    ['a variable that is not set', ENV, ['--keys-env', 'MY_KEYS'], /--keys-env names is not set/],
    [
      'no audience',
      { PARLEY_KEYS: TEST_KEY },
      [],
      /audience is not known.*name of the server.*PARLEY_AUDIENCE/,
    ],
    ['a pass phrase', { ...ENV, PARLEY_KEYS: 'correct horse' }, [], /Key 1 of the ring is neither/],
    ['a file that is not there', ENV, ['--keys-file', '/none'], /--keys-file names is not there/],
  ])('%s is wrong use', async (_, env, args, message) => {
    const { code, out, err } = await inspect(['parley1.A', ...args], { env });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });

  it.each([
    ['--key', OTHER_KEY],
    [`--key=${OTHER_KEY}`],
    ['--keys', OTHER_KEY],
    [`--keys=${OTHER_KEY}`],
    ['--key'],
    [`--kez=${OTHER_KEY}`],
    [`-k${OTHER_KEY}`],
    ['--keys-env', OTHER_KEY],
    ['--keys-file', OTHER_KEY],
    ['--output', OTHER_KEY],
    ['--max-length', OTHER_KEY],
    ['--file', OTHER_KEY],
  ])('a key as an argument is refused, and never repeated: %s', async (...args) => {
    const { code, out, err } = await inspect(['parley1.A', ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expectNothingOf(OTHER_KEY.slice('parley_key_'.length), err);
    if (/^--keys?(?:=|$)/.test(args[0] ?? '')) {
      expect(err).toMatch(/never an argument.*PARLEY_KEYS.*--keys-file.*leaked/);
    }
  });
});

describe('what it is held against', () => {
  it.each([
    [['--name', 'deploy'], /Request .*, that of the request given/],
    [
      ['--method', 'tools/call', '--name', 'deploy', '--arguments', '{}'],
      /Request .*, that of the request given/,
    ],
    [['--name', 'deploy', '--arguments', '{"env":"eu"}'], /Request .*, NOT that of the request given/],
    [['--uri', 'file:///a'], /Request .*, NOT that of the request given/],
    [['--anonymous'], /Principal .*, that of the principal given/],
    [['--principal', 'alice'], /Principal .*, NOT that of the principal given: rejected there \(principal\)/],
    [['--client', 'app', '--subject', 'alice'], /Principal .*, NOT that of the principal given/],
  ])('%j', async (args, line) => {
    const { code, out } = await inspect([await firstState(), ...args]);
    expect(code).toBe(0);
    expect(out).toMatch(line);
  });

  it('the caller by its parts, as a server takes them', async () => {
    const auth = {
      token: 't',
      clientId: 'app',
      scopes: [],
      extra: { iss: 'https://id.example', sub: 'alice' },
    };
    const token = stateOf(await recording({}).call('tools/call', 'deploy', { auth }));
    const parts = ['--issuer', 'https://id.example', '--client', 'app', '--subject', 'alice'];
    expect((await inspect([token, ...parts])).out).toMatch(/Principal .*, that of the principal given/);
  });

  it.each([
    [['--method', 'tools/call'], /need the name/],
    [['--arguments', '{}'], /need the name/],
    [['--name', 'a', '--uri', 'b'], /not both/],
    [['--name', 'a', '--arguments', '{"secret value":'], /--arguments.*not JSON/],
    [['--name', 'a', '--arguments', '["secret value"]'], /not an object/],
    [['--name', 'a', '--arguments', String.raw`{"a":"\ud800"}`], /no canonical JSON/],
    [['--principal', 'a', '--anonymous'], /Give --principal, or/],
    [['--principal', 'a', '--subject', 'b'], /Give --principal, or/],
  ])('%j is wrong use', async (args, message) => {
    const { code, out, err } = await inspect([await firstState(), ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain('secret value');
  });
});

describe('a token that does not open', () => {
  const other = { ...ENV, PARLEY_KEYS: OTHER_KEY };
  const flip = (token: string, at: number) =>
    token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);

  it.each([
    [
      'another key',
      (token: string) => token,
      other,
      /names the key [\da-f]{8}, which is not among those given \([\da-f]{8}\).*another key or for another audience/,
    ],
    [
      'another audience',
      (token: string) => token,
      { ...ENV, PARLEY_AUDIENCE: 'x' },
      /another key or for another audience/,
    ],
    [
      'a changed key id',
      (token: string) => flip(token, 8),
      ENV,
      /first characters of the token were changed/,
    ],
    ['a changed salt', (token: string) => flip(token, 20), ENV, /salt or its commitment was changed/],
    ['a changed commitment', (token: string) => flip(token, 70), ENV, /salt or its commitment was changed/],
    [
      'a changed nonce',
      (token: string) => flip(token, 40),
      ENV,
      /nonce, its contents or its tag was changed/,
    ],
    ['changed contents', (token: string) => flip(token, 150), ENV, /contents or its tag was changed/],
    ['a changed tag', (token: string) => flip(token, token.length - 3), ENV, /its tag was changed/],
    ['a changed prefix', (token: string) => flip(token, 0), ENV, /no token of Parley/],
    ['a later format', (token: string) => token.replace('1.', '2.'), ENV, /format parley2/],
    ['padding', (token: string) => `${token}==`, ENV, /character \d+ is =, a padding/],
    [
      'line breaks',
      (token: string) => `${token.slice(0, 76)}\n${token.slice(76)}`,
      ENV,
      /character 77 is white space/,
    ],
    ['a cut', (token: string) => token.slice(0, 60), ENV, /was cut off: it has 39 bytes/],
    ['no token', () => 'hunter2', ENV, /no token of Parley/],
    [
      'too much',
      (token: string) => token + 'A'.repeat(65_536),
      ENV,
      /characters, and 65536 are looked at.*--max-length/,
    ],
  ])('%s: says so, on stderr, with code 1', async (_, alter, env, message) => {
    const token = alter(await firstState());
    const { code, out, err } = await inspect(['-'], { stdin: token, env });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expectNothingOf(token, err);
    expectNothingOf(TEST_KEY, err);
  });

  it('is JSON on stdout as well, when that is asked for', async () => {
    const { code, out, err } = await inspect([await firstState(), '--output', 'json'], { env: other });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'unopened', reason: 'unknown_key' });
    expect(err).toContain('another audience');
  });

  it('that is no text in the JSON that was given', async () => {
    const { code, err } = await inspect(['-'], { stdin: '{"requestState":null}' });
    expect(code).toBe(1);
    expect(err).toContain('not_a_string');
  });

  it('opens with a larger bound, where it was only too long for the default', async () => {
    const token = await firstState({ large: 'x'.repeat(60_000) }, { limits: { stateBytes: 200_000 } });
    expect(await inspect(['-'], { stdin: token })).toMatchObject({ code: 1 });
    expect(await inspect(['-', '--max-length', String(token.length)], { stdin: token })).toMatchObject({
      code: 0,
    });
  });
});

describe('what stands inside a token', () => {
  const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp\u2028\r\nToken      0 bytes';

  it('cannot act on a terminal, nor break out of its line', async () => {
    const token = await firstState({ [`k${HOSTILE}`]: HOSTILE, k2: { [HOSTILE]: HOSTILE } });
    for (const args of [[], ['--reveal'], ['--output', 'json'], ['--output', 'json', '--reveal']]) {
      const { code, out } = await inspect([token, ...args]);
      expect(code).toBe(0);
      expect(out).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
      expect(out.match(/^Token /gm) ?? []).toHaveLength(args.includes('json') ? 0 : 1);
      expect(out).toContain(String.raw`\u001b]0;owned`);
    }
    const { out } = await inspect([token, '--output', 'json', '--reveal']);
    expect(out).toContain(JSON.stringify(HOSTILE).slice(1, 10));
    const { contents } = JSON.parse(out) as { contents: { entries: { key: string }[] } };
    expect(contents.entries[0]?.key).toBe(`k${HOSTILE}`);
  });

  it('is never shown without --reveal, whatever it is', async () => {
    const secrets = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => `<~${text}~>`);
    await fc.assert(
      fc.asyncProperty(secrets, secrets, async (a, b) => {
        const token = await firstState({ text: a, object: { [a]: [b] } });
        for (const args of [[], ['--output', 'json']]) {
          const { code, out, err } = await inspect([token, ...args]);
          expect({ code, err }).toEqual({ code: 0, err: '' });
          expect(out).not.toContain('<~');
        }
        expect((await inspect([token, '--reveal'])).out).toContain('<~');
      }),
      { numRuns: 40 },
    );
  });

  it('never has the token or the key beside it', async () => {
    const token = await firstState();
    for (const args of [[], ['--reveal'], ['--output', 'json']]) {
      const { out } = await inspect([token, ...args]);
      expectNothingOf(token, out);
      expectNothingOf(TEST_KEY, out);
    }
  });
});
