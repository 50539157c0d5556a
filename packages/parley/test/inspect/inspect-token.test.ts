import type { AuthInfo } from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memoryLedger, type ParleyOptions } from '../../src/index.js';
import {
  ConfigurationError,
  inspectToken,
  Uncanonical,
  type Inspection,
  type InspectOptions,
  type OpenedToken,
} from '../../src/inspect/index.js';
import { createSealer, encodeClaims, parseKeys } from '../../src/seal/index.js';
import { accept, instance, stateOf, TEST_KEY, type Instance } from '../gate/wire-harness.js';
import { hex, vectors } from '../seal/vectors.js';

const OTHER_KEY = 'parley_key_8wArIFzqXklysBVhBTgKrc7jxMJ4AWTIbNM_x0cRIJo';
const NOON = Date.UTC(2026, 6, 28, 12);
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const ARGUMENTS = { env: 'production' };
const ALICE: AuthInfo = {
  token: 'access-token',
  clientId: 'app',
  scopes: [],
  extra: { iss: 'https://issuer.example', sub: 'alice' },
};

/** A server whose flow records something of most kinds, with `secret` in each value, and asks twice. */
function releases(options: ParleyOptions = {}): Instance {
  return instance(
    (flows) => {
      flows.registerTool(
        'deploy',
        { version: '7', inputSchema: z.object({ env: z.string() }) },
        async (_, flow) => {
          await flow.step('build', () => ({ id: 'secret build' }));
          await flow
            .step('notify', () => Promise.reject(new TypeError('secret failure')))
            .catch(() => undefined);
          await flow.now();
          await flow.form('region', { message: 'Where?', schema: z.object({ region: z.string() }) });
          await flow.uuid();
          await Promise.all([flow.confirm('go', 'Now?'), flow.confirm('sure', 'Sure?')]);
          return { content: [] };
        },
      );
    },
    { now: () => NOON, ...options },
  );
}

/** The state of the second round. */
async function secondState(server = releases(), auth?: AuthInfo): Promise<string> {
  const who = auth === undefined ? {} : { auth };
  const first = await server.call('tools/call', 'deploy', { arguments: ARGUMENTS, ...who });
  const second = await server.call('tools/call', 'deploy', {
    arguments: ARGUMENTS,
    requestState: stateOf(first),
    inputResponses: { region: accept({ region: 'secret region' }) },
    meta: { traceparent: TRACE },
    ...who,
  });
  return stateOf(second);
}

function inspect(token: string, over: Partial<InspectOptions> = {}): Promise<Inspection> {
  return inspectToken(token, { keys: TEST_KEY, audience: 'wire-test', now: () => NOON, ...over });
}

async function opened(token: string, over: Partial<InspectOptions> = {}): Promise<OpenedToken> {
  const inspection = await inspect(token, over);
  if (inspection.outcome !== 'opened') throw new Error(`not opened: ${inspection.reason}`);
  return inspection;
}

/** A token with a body of the test's own, as another version of the library might write it. */
async function tokenOf(body: string, kind: 'flow' | 'plain' = 'flow'): Promise<string> {
  const sealer = createSealer({ keys: parseKeys(TEST_KEY), audience: 'wire-test', now: () => NOON });
  const digest = new Uint8Array(32).fill(7);
  const times = { issued: NOON, expires: NOON + 1, deadline: NOON + 1 };
  const who = { principal: digest, request: digest };
  return sealer.seal(encodeClaims({ kind, flow: new Uint8Array(16), round: 1, ...times, ...who, body }));
}

describe('a token that a server sealed', () => {
  it('tells all its claims', async () => {
    const server = releases();
    const token = await secondState(server);
    const suspended = server.events.findLast(({ name }) => name === 'suspended')?.event;
    const inspection = await opened(token);
    expect(inspection).toMatchObject({
      bytes: token.length,
      key: { position: 0, seals: true },
      kind: 'flow',
      round: 2,
      waits: 0,
      issued: NOON,
      expires: NOON + 600_000,
      deadline: NOON + 86_400_000,
      principal: null,
      version: '7',
      trace: TRACE,
      fits: {},
    });
    expect(inspection).not.toHaveProperty('stale');
    expect(suspended).toMatchObject({ flow: inspection.flow, questions: ['go', 'sure'] });
    expect(inspection.questions).toEqual([
      { key: 'go', attempts: 0, changes: 0 },
      { key: 'sure', attempts: 0, changes: 0 },
    ]);
  });

  it('tells entries by key, type and size, in the order in which they were settled', async () => {
    const { contents } = await opened(await secondState());
    expect(contents).toEqual({
      in: 'token',
      entries: [
        {
          type: 'step',
          key: 'build',
          bytes: '{"type":"step","key":"build","value":{"id":"secret build"}}'.length,
        },
        { type: 'step-failed', key: 'notify', bytes: 83 },
        { type: 'now', after: 'notify', bytes: 53 },
        { type: 'answer', key: 'region', bytes: expect.any(Number) as number },
        { type: 'uuid', after: 'region', bytes: expect.any(Number) as number },
      ],
    });
  });

  it('tells no value unless asked to reveal them', async () => {
    const token = await secondState();
    expect(JSON.stringify(await opened(token))).not.toContain('secret');
    const { contents } = await opened(token, { reveal: true });
    const entries = contents.in === 'token' ? contents.entries : [];
    expect(entries.map(({ recorded }) => recorded)).toMatchObject([
      { value: { id: 'secret build' } },
      { name: 'TypeError', message: 'secret failure' },
      { value: NOON },
      { answer: { action: 'accept', content: { region: 'secret region' } } },
      { value: expect.stringMatching(/^[\da-f-]{36}$/) as string },
    ]);
  });

  it('never tells a value of any step unless asked', async () => {
    const marked = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `<~${text}~>`);
    await fc.assert(
      fc.asyncProperty(marked, fc.constantFrom('step', 'once', 'wait', 'later'), async (secret, type) => {
        const entry = JSON.stringify({ type, key: 'k', value: [secret], [secret]: secret });
        const token = await tokenOf(`{}\n${entry}\n${JSON.stringify([secret])}\n${JSON.stringify(secret)}`);
        expect(JSON.stringify(await opened(token))).not.toContain('<~');
        expect(JSON.stringify(await opened(token, { reveal: true }))).toContain('<~');
      }),
      { numRuns: 50 },
    );
  });

  it('opens when its time is over, and says which', async () => {
    const token = await secondState();
    const at = async (now: number) => (await opened(token, { now: () => now })).stale;
    expect(await at(NOON + 600_000)).toBeUndefined();
    expect(await at(NOON + 600_001)).toBe('expired');
    expect(await at(NOON + 86_400_000)).toBe('expired');
    expect(await at(NOON + 86_400_001)).toBe('deadline');
  });

  it('opens with any key of the ring, and says which and whether it seals', async () => {
    const token = await secondState();
    const keyOf = async (keys: InspectOptions['keys'], now = NOON) =>
      (await opened(token, { keys, now: () => now })).key;
    const { id } = await keyOf(TEST_KEY);
    expect(id).toMatch(/^[\da-f]{8}$/);
    expect(await keyOf([OTHER_KEY, TEST_KEY])).toEqual({ id, position: 1, seals: false });
    const rotating = `${OTHER_KEY}@2026-08-01T00:00:00Z,${TEST_KEY}`;
    expect(await keyOf(rotating)).toEqual({ id, position: 1, seals: true });
    expect(await keyOf(rotating, Date.UTC(2026, 7, 1))).toEqual({ id, position: 1, seals: false });
    // No key is active: a server would not start with this ring, and an operator still looks into its states.
    expect(await keyOf(`${TEST_KEY}@2026-08-01T00:00:00Z`)).toEqual({ id, position: 0, seals: false });
  });

  it('says that its journal is in the ledger', async () => {
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await flow.step('large', () => 'x'.repeat(100_000));
          await flow.confirm('go', 'Go?');
          return { content: [] };
        });
      },
      { ledger: memoryLedger() },
    );
    const { contents, questions } = await opened(stateOf(await server.call('tools/call', 't')));
    expect(contents).toEqual({ in: 'ledger', reference: expect.stringMatching(/^[\w-]{22}$/) as string });
    expect(questions.map(({ key }) => key)).toEqual(['go']);
  });

  it('of a handler written by hand tells the size of its text, and the text when asked', async () => {
    const token = await tokenOf(JSON.stringify({ s: 'Zürich', q: [{ key: 'seats', digest: '' }] }), 'plain');
    expect(await opened(token)).toMatchObject({
      kind: 'plain',
      contents: { in: 'text', bytes: 7 },
      questions: [{ key: 'seats' }],
    });
    expect((await opened(token)).contents).not.toHaveProperty('text');
    expect((await opened(token, { reveal: true })).contents).toEqual({
      in: 'text',
      bytes: 7,
      text: 'Zürich',
    });
  });
});

describe('what a token is held against', () => {
  it.each([
    ['the same request', 'tools/call', 'deploy', { env: 'production' }, true],
    ['another tool', 'tools/call', 'destroy', ARGUMENTS, false],
    ['another method', 'prompts/get', 'deploy', ARGUMENTS, false],
    ['other arguments', 'tools/call', 'deploy', { env: 'staging' }, false],
    ['one argument more', 'tools/call', 'deploy', { env: 'production', dry: false }, false],
    ['no arguments', 'tools/call', 'deploy', undefined, false],
  ])('%s', async (_, method, target, args, fits) => {
    const request = { method, target, arguments: args };
    expect((await opened(await secondState(), { request })).fits).toEqual({ request: fits });
  });

  it.each([
    ['the same caller', { issuer: 'https://issuer.example', client: 'app', subject: 'alice' }, true],
    ['another subject', { issuer: 'https://issuer.example', client: 'app', subject: 'bob' }, false],
    ['no issuer', { client: 'app', subject: 'alice' }, false],
    ['a caller that is not signed in', null, false],
    ['a text', 'alice', false],
  ])('%s', async (_, principal, fits) => {
    const token = await secondState(releases(), ALICE);
    const inspection = await opened(token, { principal });
    expect(inspection.fits).toEqual({ principal: fits });
    expect(inspection.principal).toMatch(/^[\da-f]{64}$/);
  });

  it('callers that are not signed in, and principals that are a text', async () => {
    expect((await opened(await secondState(), { principal: null })).fits).toEqual({ principal: true });
    const named = await secondState(releases({ principal: () => 'alice' }));
    expect((await opened(named, { principal: 'alice' })).fits).toEqual({ principal: true });
    expect((await opened(named, { principal: null })).fits).toEqual({ principal: false });
  });

  it('a request without canonical JSON is an error', async () => {
    const request = { method: 'tools/call', target: 'deploy', arguments: { env: '\ud800' } };
    await expect(inspect(await secondState(), { request })).rejects.toThrow(Uncanonical);
  });
});

describe('a token that does not open', () => {
  it('of another key names its key, and the ids of those that were given', async () => {
    const token = await secondState();
    const { key } = await opened(token);
    const ring = expect.arrayContaining([expect.stringMatching(/^[\da-f]{8}$/)]) as string[];
    expect(await inspect(token, { keys: OTHER_KEY })).toEqual({
      outcome: 'unopened',
      reason: 'unknown_key',
      keyId: key.id,
      ring,
    });
  });

  it('of another audience looks like one of another key', async () => {
    const token = await secondState();
    const other = await inspect(token, { audience: 'other' });
    expect(other).toMatchObject({ reason: 'unknown_key', keyId: (await opened(token)).key.id });
    expect(other).toHaveProperty('ring', [expect.not.stringMatching((await opened(token)).key.id)]);
  });

  it('is given the reason that the server has, whatever was changed, where it was changed', async () => {
    const server = releases();
    const token = await secondState(server);
    // A character of each part: prefix, key id, salt, nonce, commitment, contents, tag; and of what lies between.
    for (let at = 0; at < token.length; at += 7) {
      const damaged = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      server.rejections.length = 0;
      await server.call('tools/call', 'deploy', { arguments: ARGUMENTS, requestState: damaged });
      expect(await inspect(damaged), `at ${at}`).toMatchObject({ reason: server.rejections[0] });
    }
  });

  it.each([
    ['the salt', 8 + 10, 'commitment'],
    ['the nonce', 8 + 30, 'authentication'],
    ['the commitment', 8 + 60, 'commitment'],
    ['the contents', 8 + 120, 'authentication'],
    ['the tag', -4, 'authentication'],
  ])('damaged in %s', async (_, where, reason) => {
    const token = await secondState();
    const at = (where + token.length) % token.length;
    const damaged = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    const { key } = await opened(token);
    expect(await inspect(damaged)).toEqual({ outcome: 'unopened', reason, keyId: key.id });
  });

  it.each([
    ['cut short', (token: string) => token.slice(0, 60), { reason: 'malformed', fault: 'cut_off' }],
    ['broken over lines', (token: string) => token.replace(/.{70}/g, '$&\n'), { found: 'white_space' }],
    ['no token', () => 'eyJhbGciOiJIUzI1NiJ9.e30.x', { reason: 'malformed', fault: 'foreign' }],
    ['empty', () => '', { reason: 'malformed', fault: 'foreign' }],
    [
      'too long',
      (token: string) => token + 'A'.repeat(65_536),
      { reason: 'too_long', length: expect.any(Number) as number, limit: 65_536 },
    ],
  ])('because it is %s', async (_, alter, expected) => {
    expect(await inspect(alter(await secondState()))).toMatchObject({ outcome: 'unopened', ...expected });
  });

  it('because it is no string', async () => {
    for (const value of [null, undefined, 7, {}]) {
      const inspection = await inspectToken(value, {
        keys: TEST_KEY,
        audience: 'a',
      });
      expect(inspection).toEqual({ outcome: 'unopened', reason: 'not_a_string' });
    }
  });

  it('because it is longer than asked for, and opens with a larger bound', async () => {
    const token = await secondState();
    expect(await inspect(token, { maxLength: token.length - 1 })).toMatchObject({ reason: 'too_long' });
    expect((await opened(token, { maxLength: token.length })).bytes).toBe(token.length);
  });

  it('because its contents are of something else', async () => {
    const text = vectors.tokens.find(({ name }) => name === 'text');
    const inspection = await inspect(text?.token ?? '', { keys: text?.root ?? '', audience: 'releases' });
    expect(inspection).toEqual({ outcome: 'unopened', reason: 'claims', keyId: text?.kid });
    for (const body of [
      '',
      'no JSON',
      '7',
      'null',
      '{"q":7}',
      '{"q":[7]}',
      '{"q":[{}]}',
      '{"v":7}',
      '{"r":7}',
    ]) {
      expect(await inspect(await tokenOf(body)), body).toMatchObject({ reason: 'claims' });
    }
  });

  it('never has a part of the token in what is told', async () => {
    const token = await secondState();
    for (const keys of [TEST_KEY, OTHER_KEY]) {
      for (const altered of [token, `${token}=`, token.slice(0, -1), `${token.slice(0, 99)} `]) {
        const told = JSON.stringify(await inspect(altered, { keys }));
        for (let at = 0; at + 12 <= token.length; at += 1) {
          expect(told).not.toContain(token.slice(at, at + 12));
        }
      }
    }
  });

  it.each([
    ['no key', { keys: '' }],
    ['a pass phrase', { keys: 'correct horse battery staple' }],
    ['no audience', { audience: '' }],
    ['an impossible bound', { maxLength: 10 }],
  ])('because it was asked wrongly, with %s, is an error', async (_, over) => {
    await expect(inspect(await secondState(), over)).rejects.toThrow(ConfigurationError);
  });
});

describe('a token that another version made', () => {
  it('tells entries that are not known by what can be told', async () => {
    const token = await tokenOf(
      '{"x":1}\n{"type":"later","key":"a","value":1}\n{"key":"b"}\n[1]\nnull\nno JSON\n{"type":"once-failed","key":"c","unknown":true}',
    );
    expect((await opened(token)).contents).toEqual({
      in: 'token',
      entries: [
        { type: 'later', key: 'a', bytes: 36 },
        { bytes: 11 },
        { bytes: 3 },
        { bytes: 4 },
        { bytes: 7 },
        { type: 'once-failed', key: 'c', bytes: 47, unknown: true },
      ],
    });
    const { contents } = await opened(token, { reveal: true });
    const entries = contents.in === 'token' ? contents.entries : [];
    expect(entries.map(({ recorded }) => recorded)).toEqual([
      { value: 1 },
      { key: 'b' },
      [1],
      'null',
      'no JSON',
      { unknown: true },
    ]);
  });

  it('opens the vector with claims, to what the specification says of it', async () => {
    const vector = vectors.tokens.find(({ name }) => name === 'claims') ?? expect.fail('no such vector');
    const flow = vectors.claims.find(({ name }) => name === 'flow')?.claims ?? expect.fail('no such vector');
    const inspection = await opened(vector.token, {
      keys: vector.root,
      audience: vector.audience,
      request: vectors.requests[1],
      principal: vectors.principals[2]?.principal,
    });
    expect(inspection).toMatchObject({
      key: { id: vector.kid },
      flow: Buffer.from(hex(flow.flow)).toString('base64url'),
      round: flow.round,
      issued: flow.issued,
      expires: flow.expires,
      deadline: flow.deadline,
      principal: flow.principal,
      request: flow.request,
      version: '1',
      contents: { in: 'token', entries: [{}, {}] },
      fits: { request: true, principal: true },
    });
  });

  it.each([0, 1, 200])('tells %i entries', async (count) => {
    const lines = Array.from({ length: count }, (_, index) => `{"type":"step","key":"k${index}","value":1}`);
    const { contents } = await opened(await tokenOf(['{}', ...lines].join('\n')));
    expect(contents.in === 'token' && contents.entries.map(({ key }) => key)).toEqual(
      lines.map((_, index) => `k${index}`),
    );
  });
});
