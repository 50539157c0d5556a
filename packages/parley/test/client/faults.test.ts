import { ProtocolError } from '@modelcontextprotocol/client';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  drive,
  fileStore,
  flowOf,
  InvalidResponse,
  loadFlow,
  ParleyError,
  RequestStateRefused,
  resume,
  RetryUnknown,
  Stepper,
} from '../../src/client/index.js';
import {
  CALL,
  connect,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  printed,
  scripted,
  textForm,
  URL_OF_SERVER,
  type Script,
} from './harness.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const STATE = 'very-secret-state.0123456789-"quoted"-\\-abcdefghijklmnop';
/** Its beginning, and its end behind the characters that JSON escapes. */
const PARTS = /very-secret-state|abcdefghijklmnop/;

const JSON_TYPE = { 'Content-Type': 'application/json' };

const asksOnce = (second: () => unknown) =>
  scripted((_request, nth) =>
    nth === 1 ? interim({ inputRequests: { q: textForm() }, requestState: STATE }) : second(),
  );

describe('interim results that are none', () => {
  it.each([
    ['neither questions nor state', {}],
    ['{} as questions and no state', { inputRequests: {} }],
    ['null as state', { requestState: null }],
    ['a list as questions', { inputRequests: [textForm()] }],
    ['an unknown method', { inputRequests: { q: { method: 'foo/bar', params: {} } } }],
    ['a question that is a text', { inputRequests: { q: 'Name?' } }],
    ['a question without params', { inputRequests: { q: { method: 'elicitation/create' } } }],
    [
      'an unknown mode',
      { inputRequests: { q: { method: 'elicitation/create', params: { mode: 'x', message: '' } } } },
    ],
    [
      'sampling, undeclared',
      { inputRequests: { q: { method: 'sampling/createMessage', params: { messages: [] } } } },
    ],
    ['roots, undeclared', { inputRequests: { q: { method: 'roots/list' } } }],
    [
      'a URL, undeclared',
      {
        inputRequests: {
          q: { method: 'elicitation/create', params: { mode: 'url', message: '', url: 'https://a.example' } },
        },
      },
    ],
    ['one good question and one bad', { inputRequests: { a: textForm(), q: { method: 'tools/call' } } }],
  ])('%s', async (_, members) => {
    const { client, sent } = await scripted(() => interim(members));
    const asked: never[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(InvalidResponse);
    expect(sent).toHaveLength(1);
    expect(asked).toHaveLength(0);
  });

  it('{} as questions beside a state is a round that only waits', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      nth > 1 ? done() : interim({ inputRequests: {}, requestState: '' }),
    );
    await drive(client, CALL, optionsWith());
    expect(sent[1]?.params.requestState).toBe('');
    expect(sent[1]?.params).not.toHaveProperty('inputResponses');
  });

  it('a result of a kind that nobody knows', async () => {
    const { client } = await scripted(() => ({ resultType: 'task', taskId: 'x' }));
    expect(await failureOf(drive(client, CALL, optionsWith()))).toBeInstanceOf(InvalidResponse);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://a.example/x',
    'http://a.example/',
  ])('the URL %s: nobody is asked, nothing is sent', async (url) => {
    const { client, sent } = await scripted(() =>
      interim({
        inputRequests: { q: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url } } },
      }),
    );
    let asked = 0;
    const handlers = { url: () => ({ action: (asked += 1) > 0 ? 'accept' : 'cancel' }) as const };
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers })));
    expect(failure).toMatchObject({ code: 'unsafe_url', key: 'q' });
    expect(asked).toBe(0);
    expect(sent).toHaveLength(1);
  });
});

describe('a server that never ends a call', () => {
  const asking = (key: string, message: string, nth: number) =>
    interim({ inputRequests: Object.fromEntries([[key, textForm(message)]]), requestState: `s${nth}` });

  it.each<[string, Script, object, { sent: number; asked: number }]>([
    [
      'asks something new in each round',
      (_, nth) => asking('q', `No. ${nth}`, nth),
      { code: 'drive_limit', bound: 'maxRounds' },
      { sent: 16, asked: 15 },
    ],
    [
      'asks the same with a new state',
      (_, nth) => asking('q', 'Name?', nth),
      { code: 'going_nowhere', keys: ['q'] },
      { sent: 3, asked: 2 },
    ],
    [
      'asks two things in turn',
      (_, nth) => asking('q', nth % 2 === 0 ? 'Name?' : 'Name!', nth),
      { code: 'drive_limit', bound: 'maxRounds' },
      { sent: 16, asked: 15 },
    ],
    [
      'asks the same under new keys',
      (_, nth) => asking(`q${nth}`, 'Name?', nth),
      { code: 'drive_limit', bound: 'maxRounds' },
      { sent: 16, asked: 15 },
    ],
    [
      'asks the same under a key of the prototype',
      (_, nth) => asking('__proto__', 'Name?', nth),
      { code: 'going_nowhere', keys: ['__proto__'] },
      { sent: 3, asked: 2 },
    ],
    [
      'gives a state and asks nothing',
      (_, nth) => interim({ requestState: `s${nth}` }),
      { code: 'drive_limit', bound: 'stateOnly.rounds' },
      { sent: 257, asked: 0 },
    ],
    [
      'gives a state and {} as questions',
      () => interim({ requestState: '', inputRequests: {} }),
      { code: 'drive_limit', bound: 'stateOnly.rounds' },
      { sent: 257, asked: 0 },
    ],
  ])('%s', async (_, script, expected, counts) => {
    const { client, sent } = await scripted(script);
    const asked: never[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toMatchObject(expected);
    expect({ sent: sent.length, asked: asked.length }).toEqual(counts);
  });
});

describe('keys that are names of something else', () => {
  it('stay what they are in a call that is saved, and answered by another process', async () => {
    const keys = ['', 'undefined', '__proto__', 'constructor', 'null'];
    const { client, sent } = await scripted((_, nth) =>
      nth > 1
        ? done()
        : interim({ inputRequests: Object.fromEntries(keys.map((key) => [key, textForm(key)])) }),
    );
    const later = () => Promise.reject(new Error('later'));
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form: later } })));
    expect(failure).toMatchObject({ code: 'unanswered', key: '' });
    const saved: unknown = JSON.parse(JSON.stringify(flowOf(failure)));
    const form = ({ key }: { key: string }) => ({ action: 'accept', content: { text: `<${key}>` } }) as const;
    await resume(client, loadFlow(saved), optionsWith({ handlers: { form } }));
    expect(Object.entries(sent[1]?.params.inputResponses ?? {})).toEqual(
      keys.map((key) => [key, { action: 'accept', content: { text: `<${key}>` } }]),
    );
  });
});

describe('a state of 3 MB', () => {
  const state = 'é'.repeat(1_500_000);
  const large = () =>
    scripted((_request, nth) =>
      nth > 1 ? done() : interim({ inputRequests: { q: textForm() }, requestState: state }),
    );

  it('is too large by default, and is not in the error', async () => {
    const failure = await failureOf(drive((await large()).client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(InvalidResponse);
    expect(printed(failure)).not.toContain('éé');
  });

  it('goes back as it came where the bound allows it', async () => {
    const { client, sent } = await large();
    await drive(client, CALL, optionsWith({ maxStateBytes: 3_000_000 }));
    expect(sent[1]?.params.requestState === state).toBe(true);
    const tooMuch = drive((await large()).client, CALL, optionsWith({ maxStateBytes: 2_999_999 }));
    expect(await failureOf(tooMuch)).toBeInstanceOf(InvalidResponse);
  });

  it('is the same after it was in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-faults-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const store = fileStore(join(folder, 'flow.json'));
    const { client, sent } = await large();
    const options = optionsWith({ store, maxStateBytes: 3_000_000 });
    const later = { form: () => Promise.reject(new Error('later')) };
    expect(await failureOf(drive(client, CALL, { ...options, handlers: later }))).toMatchObject({
      code: 'unanswered',
    });
    await resume(client, await store.load(), options);
    expect(sent[1]?.params.requestState === state).toBe(true);
  });
});

describe('a refused state', () => {
  it('is an error of its own, and there is no second try', async () => {
    const { client, sent } = await asksOnce(() => ({
      code: -32_602,
      message: 'Invalid or expired requestState',
      data: { reason: 'invalid_request_state' },
    }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(RequestStateRefused);
    expect(failure).toMatchObject({ code: 'request_state_refused', round: 2 });
    expect(failure.cause).toBeInstanceOf(ProtocolError);
    expect(sent).toHaveLength(2);
  });

  it('by a real flow, whose state was changed', async () => {
    const { client } = await connect((flows) => {
      flows.registerTool('t', {}, async (flow) => ({
        content: [{ type: 'text', text: String(await flow.confirm('q', 'Go?')) }],
      }));
    });
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const step = await stepper.begin(CALL);
    if (step.type !== 'pending') throw new Error('no question');
    const changed = { ...step.flow, requestState: `${step.flow.requestState}A` };
    const failure = await failureOf(
      stepper.next(changed, { q: { action: 'accept', content: { confirm: true } } }),
    );
    expect(failure).toBeInstanceOf(RequestStateRefused);
    expect(printed(failure)).not.toContain(step.flow.requestState);
  });
});

describe('local failures and those of the server (CORE-28)', () => {
  it('an error that the server answered is the one of the client, with its number', async () => {
    const { client, sent } = await asksOnce(() => ({ code: -32_603, message: 'Internal error' }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure).toMatchObject({ code: -32_603 });
    expect(failure).not.toBeInstanceOf(ParleyError);
    expect(sent).toHaveLength(2);
  });
});

describe('a first request without an answer', () => {
  it.each([
    ['the connection fails', () => Promise.reject(new TypeError('fetch failed'))],
    ['the server is broken', () => new Response('oops', { status: 500 })],
    ['the response is cut off', () => new Response('{"jsonrpc":', { headers: JSON_TYPE })],
  ])('%s: the error of the client, and it is not sent again', async (_, answer) => {
    const { client, sent } = await scripted(answer);
    const asked: never[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).not.toBeInstanceOf(ParleyError);
    expect([sent.length, asked.length]).toEqual([1, 0]);
  });
});

describe('a retry without an answer', () => {
  it.each([
    ['the connection fails', () => Promise.reject(new TypeError('fetch failed'))],
    ['the server is broken', () => new Response('oops', { status: 500 })],
    ['a gateway gives up', () => new Response('late', { status: 504 })],
    ['the response is cut off', () => new Response('{"jsonrpc":', { headers: JSON_TYPE })],
  ])('%s: of unknown outcome, and not sent again', async (_, second) => {
    const { client, sent } = await asksOnce(second);
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure).toMatchObject({ code: 'retry_unknown', round: 2 });
    expect(failure.cause).toBeInstanceOf(Error);
    expect(sent).toHaveLength(2);
    expect(flowOf(failure)).toMatchObject({ round: 1, requestState: STATE });
  });

  it('goes on only when told to send it again', async () => {
    let broken = true;
    const { client, sent } = await asksOnce(() => (broken ? new Response('', { status: 500 }) : done()));
    const flow = flowOf(await failureOf(drive(client, CALL, optionsWith())));
    const asked: never[] = [];
    const options = optionsWith({ handlers: filling(asked) });
    expect(await failureOf(resume(client, flow, options))).toBeInstanceOf(RetryUnknown);
    expect([sent.length, asked.length]).toEqual([2, 0]);
    broken = false;
    await resume(client, flow, { ...options, resend: true });
    expect([sent.length, asked.length]).toEqual([3, 1]);
    expect(sent[2]?.params).toEqual({ ...sent[1]?.params });
    expect(sent[2]?.id).not.toBe(sent[1]?.id);
  });
});

describe('the state is in no error', () => {
  const echo = `you sent ${JSON.stringify({ requestState: STATE })}`;
  it.each([
    [
      'a message of the server',
      () => ({ code: -32_000, message: `bad: ${STATE}`, data: { got: [STATE], echo } }),
    ],
    ['a body of a proxy', () => new Response(echo, { status: 502 })],
    ['a body of a proxy that turns away', () => new Response(echo, { status: 400 })],
    ['a body that was cut off', () => new Response(echo.slice(0, 60), { status: 500 })],
    [
      'a message of fetch',
      () => Promise.reject(new Error(`cannot send ${STATE}`, { cause: new Error(STATE) })),
    ],
    ['an answer that cannot be read', () => ({ resultType: STATE })],
    [
      'a refused state',
      () => ({ code: -32_602, message: STATE, data: { reason: 'invalid_request_state', state: STATE } }),
    ],
    ['the loop', () => interim({ inputRequests: { q: textForm() }, requestState: STATE })],
    ['an invalid question', () => interim({ inputRequests: { q: 1 }, requestState: STATE })],
  ])('%s', async (_, second) => {
    const { client } = await asksOnce(second);
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(printed(failure)).not.toMatch(PARTS);
  });

  it('an error that carries the flow', async () => {
    const { client } = await asksOnce(() => new Response('', { status: 500 }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(flowOf(failure)?.requestState).toBe(STATE);
    expect(printed(failure)).not.toMatch(PARTS);
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      name: 'RetryUnknown',
      code: 'retry_unknown',
      message: failure.message,
    });
    expect(Object.keys(failure)).not.toContain('flow');
  });

  it('and no answer is', async () => {
    const { client, sent } = await asksOnce(() => done());
    for (const content of [{ text: 42_424_242 }, { text: 'x', more: 'very-private' }, {}]) {
      const handlers = { form: () => ({ action: 'accept', content }) as const };
      const failure = await failureOf(drive(client, CALL, optionsWith({ handlers })));
      expect(failure).toMatchObject({ code: 'answer_refused', key: 'q' });
      expect(printed(failure)).not.toMatch(/42424242|very-private/);
      sent.length = 0;
    }
  });
});

describe('handlers that fail', () => {
  it('one that throws ends the call; its siblings are not asked, nothing is sent (GAP-19)', async () => {
    const { client, sent } = await scripted(() =>
      interim({ inputRequests: { a: textForm('a'), b: textForm('b'), c: textForm('c') } }),
    );
    const asked: string[] = [];
    const form = ({ key }: { key: string }) => {
      asked.push(key);
      if (key === 'b') throw new Error('no terminal');
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    expect(failure).toMatchObject({ code: 'unanswered', key: 'b', cause: { message: 'no terminal' } });
    expect(asked).toEqual(['a', 'b']);
    expect(sent).toHaveLength(1);
  });

  it('a refusal of sampling or roots cannot be told, so nothing is sent (MRTR-C-13)', async () => {
    const { client, sent } = await scripted(() =>
      interim({ inputRequests: { r: { method: 'roots/list' } } }),
    );
    const handlers = { roots: () => ({ action: 'decline' }) as const };
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers })));
    expect(failure).toMatchObject({ code: 'unanswered', key: 'r' });
    expect(sent).toHaveLength(1);
  });
});
