import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  drive,
  fileStore,
  flowOf,
  loadFlow,
  resume,
  SavedFlowForeign,
  SavedFlowInvalid,
  Stepper,
  type AskContext,
  type FormQuestion,
  type SavedFlow,
} from '../../src/client/index.js';
import type { Flows } from '../../src/index.js';
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
} from './harness.js';
import { FLOW as WAITING, leaving } from './stores.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-flow-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const FLOW: SavedFlow = {
  format: 'parley-flow',
  version: 1,
  id: 'a',
  revision: 1,
  server: { url: URL_OF_SERVER, principal: null },
  request: CALL,
  round: 1,
  waits: 0,
  requestState: 'a very secret state',
  questions: [
    {
      key: '__proto__',
      kind: 'form',
      message: 'Name?',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    },
    { key: 'u', kind: 'url', message: '', url: 'https://a.example/', host: 'a.example', warnings: [] },
    { key: 's', kind: 'sampling', params: { messages: [], maxTokens: 1 } },
    { key: 'r', kind: 'roots' },
  ],
  repeats: { digest: 'd', times: 1 },
  beganAt: 1,
  askedAt: 2,
};

const DEEP = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as object;

describe('loadFlow', () => {
  it('reads what was written, as text and parsed, with or without a state', () => {
    expect(loadFlow(JSON.stringify(FLOW))).toEqual(FLOW);
    expect(loadFlow(FLOW)).toEqual(FLOW);
    const { requestState: _, ...without } = FLOW;
    expect(loadFlow(JSON.stringify(without))).not.toHaveProperty('requestState');
    expect(loadFlow(JSON.stringify({ ...FLOW, requestState: '' })).requestState).toBe('');
  });

  it.each<[string, unknown]>([
    ['not JSON', '{"requestState":"a very secret state"'],
    ['null', null],
    ['a list', []],
    ['another format', { ...FLOW, format: 'x' }],
    ['a later version', { ...FLOW, version: 2 }],
    ['a version that is a text', { ...FLOW, version: '1' }],
    ['a member too many', { ...FLOW, admin: true }],
    ['null as state', { ...FLOW, requestState: null }],
    ['a number as state', { ...FLOW, requestState: 7 }],
    ['no id', { ...FLOW, id: undefined }],
    ['an id that is empty', { ...FLOW, id: '' }],
    ['an id of 1 MB', { ...FLOW, id: 'x'.repeat(1_000_000) }],
    ['no revision', { ...FLOW, revision: undefined }],
    ['a revision of 0', { ...FLOW, revision: 0 }],
    ['a round of 0 with questions', { ...FLOW, round: 0, sentAt: 3 }],
    ['a round of 0 that was not sent', { ...FLOW, round: 0, questions: [], requestState: undefined }],
    [
      'arguments that nest without end',
      { ...FLOW, request: { ...CALL, params: { name: 't', arguments: DEEP } } },
    ],
    ['no server', { ...FLOW, server: undefined }],
    ['a server with credentials', { ...FLOW, server: { url: 'https://a:b@c.example/' } }],
    ['a server of both kinds', { ...FLOW, server: { url: URL_OF_SERVER, command: 'x' } }],
    ['another method', { ...FLOW, request: { method: 'tools/list', params: {} } }],
    ['a method of the prototype', { ...FLOW, request: { method: 'toString', params: {} } }],
    ['params with a state', { ...FLOW, request: { ...CALL, params: { name: 't', requestState: 'x' } } }],
    ['params with answers', { ...FLOW, request: { ...CALL, params: { name: 't', inputResponses: {} } } }],
    ['a round of 0', { ...FLOW, round: 0 }],
    ['a round of 1.5', { ...FLOW, round: 1.5 }],
    ['more waits than rounds', { ...FLOW, waits: 2 }],
    ['no questions and no state', { ...FLOW, questions: [], requestState: undefined }],
    ['a question twice', { ...FLOW, questions: [FLOW.questions[3], FLOW.questions[3]] }],
    ['a question of no kind', { ...FLOW, questions: [{ key: 'q', kind: 'tool' }] }],
    [
      'a URL that must not be opened',
      { ...FLOW, questions: [{ ...FLOW.questions[1], url: 'javascript:alert(1)' }] },
    ],
    ['a form that is none', { ...FLOW, questions: [{ ...FLOW.questions[0], schema: { type: 'array' } }] }],
    ['a time that is none', { ...FLOW, beganAt: 'now' }],
    ['a sent time that is none', { ...FLOW, sentAt: null }],
  ])('refuses %s', (_, saved) => {
    const text = typeof saved === 'string' ? saved : JSON.stringify(saved);
    expect(() => loadFlow(text)).toThrow(SavedFlowInvalid);
    try {
      loadFlow(text);
    } catch (error) {
      expect(printed(error)).not.toContain('secret');
    }
  });

  it('works out the host and the warnings of a URL again', () => {
    const forged = { ...FLOW.questions[1], url: 'https://evil.example/', host: 'a.example' };
    expect(loadFlow({ ...FLOW, questions: [forged] }).questions[0]).toMatchObject({ host: 'evil.example' });
  });
});

const region = z.object({ region: z.enum(['eu', 'us']) });

function deploy(flows: Flows): void {
  flows.registerTool('t', { inputSchema: z.object({ a: z.int() }) }, async ({ a }, flow) => {
    const form = await flow.form('region', { message: 'Region?', schema: region });
    const isSure = await flow.confirm('go', `Deploy ${a} to ${form.region}?`);
    return { content: [{ type: 'text', text: `${a} ${form.region} ${isSure}` }] };
  });
}

describe('loadFlow, told which method it must be of', () => {
  it('refuses another one', () => {
    expect(loadFlow(WAITING, 'tools/call')).toEqual(WAITING);
    expect(() => loadFlow(WAITING, 'prompts/get')).toThrow(/request\.method is not prompts\/get/);
  });
});

describe('a call that is left and resumed', () => {
  it('goes on in another client, from a file, with nothing asked twice', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    const first = await connect(deploy);
    const asked: string[] = [];
    const leaving = optionsWith({
      store,
      handlers: {
        form: ({ key }) => {
          asked.push(key);
          if (key === 'go') throw new Error('ask the manager tomorrow');
          return { action: 'accept', content: { region: 'us' } };
        },
      },
    });
    expect(await failureOf(drive(first.client, CALL, leaving))).toMatchObject({
      code: 'unanswered',
      key: 'go',
    });
    await first.client.close();

    const second = await connect(deploy);
    const saved = await store.load();
    expect(saved).toMatchObject({ round: 2, questions: [{ key: 'go' }] });
    const handlers = {
      form: ({ key }: { key: string }) => {
        asked.push(key);
        return { action: 'accept', content: { confirm: true } } as const;
      },
    };
    const result = await resume(second.client, saved, optionsWith({ store, handlers }));
    expect(result).toMatchObject({ content: [{ text: '1 us true' }] });
    expect(asked).toEqual(['region', 'go', 'go']);
    expect(second.sent).toHaveLength(1);
    expect(await store.load()).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused for another server, and for somebody else', async () => {
    const { client, sent } = await connect(deploy);
    const others = [
      [{ url: 'http://127.0.0.1/other' }, 'server'],
      [{ command: 'node' }, 'server'],
      [{ url: URL_OF_SERVER, principal: 'ann' }, 'principal'],
      [{ url: URL_OF_SERVER, principal: '' }, 'principal'],
    ] as const;
    const flow = { ...FLOW, questions: [FLOW.questions[3]!] };
    for (const [server, differs] of others) {
      const failure = await failureOf(resume(client, flow, optionsWith({ server })));
      expect(failure).toBeInstanceOf(SavedFlowForeign);
      expect(failure).toMatchObject({ code: 'saved_flow_foreign', differs });
      const stepper = new Stepper(client, { server, kinds: ['roots'] });
      expect(await failureOf(stepper.next(flow))).toBeInstanceOf(SavedFlowForeign);
    }
    expect(sent).toHaveLength(0);
  });

  it('is not begun over one that did not end', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    await store.save(FLOW);
    const { client, sent } = await connect(deploy);
    expect(await failureOf(drive(client, CALL, optionsWith({ store })))).toMatchObject({
      code: 'configuration',
    });
    expect(sent).toHaveLength(0);
  });

  it('is marked as sent before a retry leaves: a crash in the middle is seen by who resumes', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    let atRetry: SavedFlow | undefined;
    const { client } = await scripted(async (_request, nth) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 's' });
      atRetry = await store.load();
      throw new Error('the process dies here');
    });
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(atRetry?.sentAt).toBeTypeOf('number');
    expect(flowOf(failure)).toEqual(atRetry);
    expect(await failureOf(resume(client, atRetry, optionsWith({ store })))).toMatchObject({
      code: 'retry_unknown',
    });
    expect(await store.load()).toEqual(atRetry);
  });

  it('shows what its file says, and the answer counts for what the server asked: so keep it from being changed', async () => {
    // No key is shared with the server, so nothing can tell. The documentation must.
    const { client, sent } = await scripted((_request, nth) =>
      nth > 1 ? done() : interim({ inputRequests: { q: textForm('Delete everything?') }, requestState: 's' }),
    );
    const flow = flowOf(await failureOf(drive(client, CALL, optionsWith({ handlers: leaving }))));
    const edited = loadFlow(JSON.stringify(flow).replace('Delete everything?', 'Keep everything?'));
    const asked: FormQuestion[] = [];
    await resume(client, edited, optionsWith({ handlers: filling(asked) }));
    expect(asked.map(({ message }) => message)).toEqual(['Keep everything?']);
    expect(sent[1]?.params.inputResponses).toEqual({ q: { action: 'accept', content: { text: 'x' } } });
  });

  it('is not changed by what handlers do to the request that they are shown (MRTR-C-09)', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      nth > 1 ? done() : interim({ inputRequests: { q: textForm() }, requestState: 's' }),
    );
    const form = (_question: FormQuestion, { request, server }: AskContext) => {
      for (const change of [
        () => Object.assign((request.params as { arguments: object }).arguments, { a: 999 }),
        () => Object.assign(server, { principal: 'eve' }),
      ]) {
        expect(change).toThrow(TypeError);
      }
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(sent[1]?.params['arguments']).toEqual({ a: 1 });
  });

  it('nor is what the caller holds frozen', async () => {
    const { client } = await scripted(() => done());
    const mine = structuredClone(WAITING);
    await resume(client, mine, optionsWith());
    expect(Object.isFrozen(mine.request.params)).toBe(false);
    const request = { method: 'tools/call', params: { name: 't', arguments: { list: [1] } } } as const;
    await drive(client, request, optionsWith());
    expect(Object.isFrozen(request.params.arguments.list)).toBe(false);
  });

  it('nothing saved is an error that says so', async () => {
    const { client } = await connect(deploy);
    expect(await failureOf(resume(client, undefined, optionsWith()))).toBeInstanceOf(SavedFlowInvalid);
  });

  it('answers that do not belong are refused before anything is sent', async () => {
    const { client, sent } = await connect(deploy);
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const step = await stepper.begin(CALL);
    if (step.type !== 'pending') throw new Error('no question');
    const fit = { action: 'accept', content: { region: 'eu' } } as const;
    expect(await failureOf(stepper.next(step.flow, {}))).toMatchObject({ code: 'unanswered' });
    expect(await failureOf(stepper.next(step.flow, { region: fit, x: fit }))).toMatchObject({
      code: 'configuration',
    });
    const wrong = { action: 'accept', content: { region: 'mars' } } as const;
    expect(await failureOf(stepper.next(step.flow, new Map([['region', wrong]])))).toMatchObject({
      code: 'answer_refused',
      key: 'region',
    });
    expect(sent).toHaveLength(1);
    expect(await stepper.next(step.flow, new Map([['region', fit]]))).toMatchObject({ type: 'pending' });
  });
});
