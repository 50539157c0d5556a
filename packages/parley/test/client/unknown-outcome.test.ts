import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import {
  CallStopped,
  drive,
  flowOf,
  resume,
  RetryNotTaken,
  RetryUnknown,
  Stepper,
  type SavedFlow,
} from '../../src/client/index.js';
import { CALL, done, failureOf, interim, optionsWith, scripted, textForm, URL_OF_SERVER } from './harness.js';
import { FLOW, memoryStore } from './stores.js';
import { text } from './task-script.js';

/** Asks once, and then answers as told, and then is done. */
const withAnswer = (second: () => unknown) =>
  scripted((_request, nth) => {
    if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 'state-1' });
    return nth === 2 ? second() : done();
  });

const error =
  (code: number, data: object = {}) =>
  () => ({ code, message: 'no', data });

function url(link: string): object {
  return { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: link } };
}

/** What no connection fails with, as `fetch` of Node.js says it. */
function noConnection(members: object): () => Promise<never> {
  return () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('no'), members) }));
}

describe('a retry that was answered', () => {
  const handlers = {
    form: () => ({ action: 'accept', content: { text: 'x' } }) as const,
    url: () => ({ action: 'accept' }) as const,
  };

  it.each<[string, () => unknown, unknown]>([
    ['with an error', error(-32_603), -32_603],
    ['with an error that proxies use', error(-32_000), -32_000],
    ['with what cannot be used', () => ({ resultType: 'wibble' }), 'invalid_response'],
    [
      'with a question that was not declared',
      () => interim({ inputRequests: { q: { method: 'roots/list' } } }),
      'invalid_response',
    ],
    [
      'with a URL that must not be opened',
      () => interim({ inputRequests: { q: url('javascript:1') } }),
      'unsafe_url',
    ],
    [
      'with a state that is too large',
      () => interim({ requestState: 'x'.repeat(1024 * 1024 + 1) }),
      'invalid_response',
    ],
    [
      'with a refusal of its state',
      () => ({ code: -32_602, message: 'no', data: { reason: 'invalid_request_state' } }),
      'request_state_refused',
    ],
  ])('%s, is over: nothing is left to resume', async (_, second, code) => {
    const { client, sent } = await withAnswer(second);
    const store = memoryStore();
    const failure = await failureOf(drive(client, CALL, optionsWith({ store, handlers })));
    expect(failure).toMatchObject({ code });
    expect(flowOf(failure)).toBeUndefined();
    expect(store.saved).toBeUndefined();
    // The store is free for another call.
    await drive(client, CALL, optionsWith({ store, handlers }));
    expect(sent).toHaveLength(3);
  });
});

describe('a retry that is known not to have been taken up', () => {
  it.each<[string, () => unknown]>([
    ['HTTP 401', () => new Response('', { status: 401 })],
    ['HTTP 403', () => new Response('', { status: 403 })],
    ['HTTP 404', () => new Response('', { status: 404 })],
    ['HTTP 413', () => new Response('', { status: 413 })],
    ['HTTP 429', () => new Response('', { status: 429 })],
    ['headers that do not belong to it', error(-32_020)],
    ['a capability that is missing', error(-32_021)],
    ['a version that is not spoken', error(-32_022)],
    ['a ledger that gives no answer', error(-32_603, { reason: 'unavailable' })],
    ['a round that is worked on elsewhere', error(7003, { reason: 'round_busy' })],
    ['a connection that is refused', noConnection({ code: 'ECONNREFUSED' })],
    ['a name that nobody knows', noConnection({ code: 'ENOTFOUND' })],
    ['a connection that does not come about in time', noConnection({ code: 'UND_ERR_CONNECT_TIMEOUT' })],
    ['a network that is not reached', noConnection({ code: 'EHOSTUNREACH', syscall: 'connect' })],
  ])('%s: the error carries the flow, with a store and without, and it can be resumed', async (_, second) => {
    for (const store of [undefined, memoryStore()]) {
      // `callTool` looks the headers up anew by itself, once.
      let answers = 0;
      const { client } = await scripted((_request, nth) => {
        if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 'state-1' });
        return (answers += 1) <= 2 && !isResumed ? second() : done();
      });
      let isResumed = false;
      const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
      expect(failure).toBeInstanceOf(RetryNotTaken);
      expect(failure).toMatchObject({ code: 'retry_not_taken', round: 2 });
      expect(failure.cause).toBeInstanceOf(Error);
      const flow = flowOf(failure);
      expect(flow).toMatchObject({ round: 1, requestState: 'state-1' });
      expect(flow).not.toHaveProperty('sentAt');
      expect(store?.saved).toEqual(store === undefined ? undefined : flow);
      isResumed = true;
      expect(await resume(client, flow, optionsWith({ store }))).toMatchObject(text('done'));
    }
  });

  it.each<[string, () => unknown]>([
    ['a connection that broke', noConnection({ code: 'ECONNRESET', syscall: 'read' })],
    ['a host that cannot be reached any more', noConnection({ code: 'EHOSTUNREACH', syscall: 'write' })],
    ['a time-out on a connection that stood', noConnection({ code: 'ETIMEDOUT', syscall: 'read' })],
    ['an error that says nothing', () => Promise.reject(new TypeError('fetch failed'))],
    ['HTTP 408', () => new Response('', { status: 408 })],
    ['HTTP 503', () => new Response('', { status: 503 })],
  ])('%s does not say so: in doubt it is unknown', async (_, second) => {
    const { client } = await withAnswer(second);
    const store = memoryStore();
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(flowOf(failure)).toEqual(store.saved);
    expect(store.saved?.sentAt).toBeTypeOf('number');
  });

  it('a connection that was closed while somebody was asked', async () => {
    const { client, sent } = await withAnswer(() => done());
    const form = async () => {
      await client.close();
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    expect(sent).toHaveLength(1);
    expect(failure).toBeInstanceOf(RetryNotTaken);
    expect(flowOf(failure)).toMatchObject({ round: 1, requestState: 'state-1' });
  });

  it('cancelled between the last look at the signal and the sending', async () => {
    const { client, sent } = await withAnswer(() => done());
    const controller = new AbortController();
    const { transport } = client;
    const callTool = client.callTool.bind(client);
    // The client looks things of its own up before it sends.
    client.callTool = async (params, options) => {
      if ('requestState' in params) controller.abort();
      return callTool(params, options);
    };
    const store = memoryStore();
    const failure = await failureOf(drive(client, CALL, optionsWith({ store, signal: controller.signal })));
    expect(sent).toHaveLength(1);
    expect(failure).toBeInstanceOf(CallStopped);
    expect(flowOf(failure)).toEqual(store.saved);
    expect(store.saved).toMatchObject({ round: 1 });
    expect(store.saved).not.toHaveProperty('sentAt');
    // What observed the transport is gone.
    expect(Object.hasOwn(transport ?? {}, 'send')).toBe(false);
  });

  it('of a call whose earlier retry was not answered: that one is as unknown as before', async () => {
    const { client } = await scripted(() => new Response('', { status: 429 }));
    const unknown: SavedFlow = { ...FLOW, sentAt: 1_000_001 };
    const store = memoryStore(unknown);
    const failure = await failureOf(resume(client, unknown, { ...optionsWith({ store }), resend: true }));
    expect(failure).toBeInstanceOf(RetryNotTaken);
    expect(flowOf(failure)).toMatchObject({ sentAt: 1_000_001 });
    expect(store.saved).toEqual(flowOf(failure));
  });

  it('is told by a stepper, too', async () => {
    const { client } = await withAnswer(() => new Response('', { status: 403 }));
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const step = await stepper.begin(CALL);
    if (step.type !== 'pending') throw new Error('no question');
    const answers = { q: { action: 'accept', content: { text: 'x' } } } as const;
    const failure = await failureOf(stepper.next(step.flow, answers));
    expect(failure).toBeInstanceOf(RetryNotTaken);
    const flow = flowOf(failure);
    if (flow === undefined) throw new Error('no flow');
    expect(await stepper.next(flow, answers)).toMatchObject({ type: 'result' });
  });
});

describe('a retry for which there is no sign-in', () => {
  it.each(['token', 'onUnauthorized'] as const)('%s fails: it was not taken up', async (which) => {
    const handler = createMcpHandler(() => {
      const mcp = new McpServer({ name: 's', version: '1' });
      mcp.registerTool('t', {}, () => ({ content: [] }));
      return mcp;
    });
    let calls = 0;
    let isExpired = false;
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
    );
    const expired = () => Promise.reject(new Error('the refresh token has expired'));
    await client.connect(
      new StreamableHTTPClientTransport(new URL(URL_OF_SERVER), {
        authProvider: {
          token: () => (isExpired && which === 'token' ? expired() : Promise.resolve('x')),
          onUnauthorized: expired,
        },
        fetch: async (input, init) => {
          const body =
            typeof init?.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {};
          if (body['method'] !== 'tools/call') return handler.fetch(new Request(input, init));
          if ((calls += 1) > 1) return new Response('', { status: 401 });
          const result = interim({ inputRequests: { q: textForm() }, requestState: 'state-1' });
          return Response.json({ jsonrpc: '2.0', id: body['id'], result });
        },
      }),
    );
    const store = memoryStore();
    const form = () => {
      isExpired = true;
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ store, handlers: { form } })));
    expect(calls).toBe(which === 'token' ? 1 : 2);
    expect(failure).toBeInstanceOf(RetryNotTaken);
    expect(failure.cause).toMatchObject({ message: 'the refresh token has expired' });
    expect(store.saved).not.toHaveProperty('sentAt');
  });
});

describe('what is observed of a request', () => {
  it('belongs to that request, where many of one connection are under way', async () => {
    const { client } = await scripted(({ params }) => {
      if (params.requestState === undefined) {
        return interim({ inputRequests: { q: textForm() }, requestState: String(params['name']) });
      }
      if (params['name'] === 'answered') return error(-32_603)();
      return params['name'] === 'lost'
        ? new Response('', { status: 502 })
        : new Response('', { status: 403 });
    });
    const call = (name: string) =>
      failureOf(drive(client, { method: 'tools/call', params: { name } }, optionsWith()));
    const [answered, lost, away] = await Promise.all([call('answered'), call('lost'), call('away')]);
    expect(answered).toBeInstanceOf(ProtocolError);
    expect(lost).toBeInstanceOf(RetryUnknown);
    expect(away).toBeInstanceOf(RetryNotTaken);
    expect([flowOf(lost)?.requestState, flowOf(away)?.requestState]).toEqual(['lost', 'away']);
  });

  it('is in doubt where a client should lose the mark by which it is known', async () => {
    const { client } = await withAnswer(() => Promise.reject(new TypeError('fetch failed')));
    const callTool = client.callTool.bind(client);
    client.callTool = (params, options) =>
      callTool(JSON.parse(JSON.stringify(params)) as typeof params, options);
    expect(await failureOf(drive(client, CALL, optionsWith()))).toBeInstanceOf(RetryUnknown);
  });
});
