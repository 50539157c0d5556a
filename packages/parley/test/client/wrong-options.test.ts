import { describe, expect, it } from 'vitest';
import { drive, resume, Stepper, type Clock } from '../../src/client/index.js';
import {
  CALL,
  connectTo,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  scripted,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { taskServer } from './servers/tasks.js';
import { FLOW } from './stores.js';

const asksOnce = (question: unknown = textForm()) =>
  scripted((_request, nth) =>
    nth === 1 ? interim({ inputRequests: { q: question }, requestState: 'state-1' }) : done(),
  );

describe('wrong input of the host', () => {
  it.each<[string, object, RegExp]>([
    [
      'a server in policy.servers that is none',
      { policy: { servers: [{ url: 'example.com' }] } },
      /policy\.servers\[0\] has a url/,
    ],
    ['policy.servers that are no list', { policy: { servers: { url: URL_OF_SERVER } } }, /policy\.servers/],
    ['a kind that is none', { policy: { kinds: ['forms'] } }, /form, url, sampling, roots/],
    ['beforeRetry that is no function', { policy: { beforeRetry: 'stop' } }, /policy\.beforeRetry/],
    ['a policy that is none', { policy: 'strict' }, /policy/],
    ['bounds of rounds that only wait that are none', { policy: { stateOnly: 3 } }, /policy\.stateOnly/],
    ['no server', { server: undefined }, /identity is not an object/],
    ['a server with a URL that is left empty', { server: { url: undefined } }, /needs a url or a command/],
    ['no handlers', { handlers: undefined }, /handlers/],
    ['a handler that is no function', { handlers: { form: 'yes' } }, /handlers\.form/],
    ['a store that is none', { store: { load: () => undefined } }, /load, save and clear/],
    ['a clock that is none', { clock: Date }, /now and sleep/],
    [
      'a clock that gives no time',
      { clock: { now: () => Number.NaN, sleep: () => undefined } },
      /clock\.now/,
    ],
    ['a signal that is none', { signal: new AbortController() }, /signal/],
    ['a listener that is none', { onProgress: {} }, /onProgress/],
    ['a bound of NaN for states', { maxStateBytes: Number.NaN }, /maxStateBytes/],
    ['a time-out of Infinity', { request: { timeout: Infinity } }, /request\.timeout/],
    ['a time-out that no timer keeps', { request: { timeout: 2 ** 31 } }, /request\.timeout/],
    ['a time-out of 0 in all', { request: { maxTotalTimeout: 0 } }, /request\.maxTotalTimeout/],
  ])('%s is a ConfigurationError that says what is wrong, and nothing is sent', async (_, change, words) => {
    const { client, sent } = await asksOnce();
    for (const failure of [
      await failureOf(drive(client, CALL, { ...optionsWith(), ...change })),
      await failureOf(resume(client, FLOW, { ...optionsWith(), ...change })),
    ]) {
      expect(failure).toMatchObject({ code: 'configuration' });
      expect(failure.message).toMatch(words);
    }
    expect(sent).toHaveLength(0);
  });

  it('no options at all is one too', async () => {
    const { client } = await asksOnce();
    const call = drive(client, CALL, undefined as never);
    expect(await failureOf(call)).toMatchObject({ code: 'configuration' });
  });

  it('a server that has a command and leaves its URL empty is none', async () => {
    const { client } = await asksOnce();
    const server = { url: undefined, command: 'node' } as never;
    await drive(client, CALL, optionsWith({ server }));
  });

  it('arguments that cannot be written as JSON', async () => {
    const { client, sent } = await asksOnce();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
    for (const args of [{ n: 1n }, circle, { deep }]) {
      const call = drive(
        client,
        { method: 'tools/call', params: { name: 't', arguments: args } },
        optionsWith(),
      );
      expect(await failureOf(call)).toMatchObject({ code: 'configuration' });
    }
    expect(sent).toHaveLength(0);
  });

  it('arguments of a prompt that are no texts', async () => {
    const { client } = await asksOnce();
    const call = drive(
      client,
      { method: 'prompts/get', params: { name: 'p', arguments: { n: 1 } } },
      optionsWith(),
    );
    expect(await failureOf(call)).toMatchObject({ code: 'configuration' });
  });

  it('answers that cannot be written as JSON do not leave', async () => {
    const circle: Record<string, unknown> = { action: 'accept', content: { text: 'x' } };
    circle['self'] = circle;
    for (const answer of [circle, { action: 'accept', content: { text: 'x' }, n: 1n }]) {
      const { client, sent } = await asksOnce();
      const handlers = { form: () => answer as never };
      expect(await failureOf(drive(client, CALL, optionsWith({ handlers })))).toMatchObject({
        code: 'answer_refused',
      });
      expect(sent).toHaveLength(1);
    }
  });

  it('a stepper of kinds that are none', async () => {
    const { client } = await asksOnce();
    const make = (kinds: unknown) => () =>
      new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: kinds as [] });
    expect(make(['forms'])).toThrow(/kinds/);
    expect(make(undefined)).toThrow(/kinds/);
  });
});

describe('a clock of the host', () => {
  it('may have fractions of milliseconds', async () => {
    const { client } = await asksOnce();
    const clock: Clock = { now: () => 1_000_000.75, sleep: () => Promise.resolve() };
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'], clock });
    const step = await stepper.begin(CALL);
    if (step.type !== 'pending') throw new Error('no question');
    expect(step.flow.beganAt).toBe(1_000_000);
    await stepper.next(step.flow, { q: { action: 'accept', content: { text: 'x' } } });
  });
});

describe('a saved call that cannot be gone on with here', () => {
  it('for want of a handler: it says so, and does not blame the server', async () => {
    const { client, sent } = await asksOnce();
    for (const options of [optionsWith({ handlers: {} }), optionsWith({ policy: { kinds: ['url'] } })]) {
      const failure = await failureOf(resume(client, FLOW, options));
      expect(failure).toMatchObject({ code: 'configuration' });
      expect(failure.message).toContain('"q"');
      expect(failure.message).toContain('elicitation.form');
    }
    expect(sent).toHaveLength(0);
  });

  it.each(['closed', 'of 2025-11-25'])('as the connection is %s: nobody is asked in vain', async (which) => {
    const { client } = await connectTo(
      taskServer((task) => task.working()).create,
      undefined,
      which === 'closed' ? {} : { mode: 'legacy' },
    );
    if (which === 'closed') await client.close();
    const asked: never[] = [];
    const failure = await failureOf(resume(client, FLOW, optionsWith({ handlers: filling(asked) })));
    expect(failure).toMatchObject({ code: 'configuration' });
    expect(asked).toHaveLength(0);
  });
});

describe('what a server asks that no stack holds', () => {
  it('is an invalid response', async () => {
    const { client } = await scripted((request) => {
      // Written by hand, as JSON.stringify cannot.
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const params = `{"messages":[],"maxTokens":1,"metadata":${deep}}`;
      const question = `{"method":"sampling/createMessage","params":${params}}`;
      const result = `{"resultType":"input_required","inputRequests":{"q":${question}}}`;
      const body = `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${result}}`;
      return new Response(body, { headers: { 'Content-Type': 'application/json' } });
    });
    const handlers = { sampling: () => ({ action: 'cancel' }) as const };
    expect(await failureOf(drive(client, CALL, optionsWith({ handlers })))).toMatchObject({
      code: 'invalid_response',
    });
  });

  it('nor are questions of many megabytes one that can be', async () => {
    const { client } = await scripted(() => {
      const message = 'x'.repeat(1024 * 1024);
      const questions = Object.fromEntries(
        Array.from({ length: 5 }, (_, nth) => [`q${nth}`, textForm(message)]),
      );
      return interim({ inputRequests: questions });
    });
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: 'invalid_response' });
  });
});
