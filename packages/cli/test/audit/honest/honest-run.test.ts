import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Attack, AuditContext } from '../../../src/audit/attack.js';
import { audit } from '../../../src/audit/audit.js';
import type { Subject } from '../../../src/audit/context.js';
import { answererOf, readAnswers } from '../../../src/audit/honest/answers.js';
import { META } from '../../../src/audit/honest/envelope.js';
import { HttpWire } from '../../../src/audit/wire/http-wire.js';
import { temporaryFolder } from '../../parley.js';
import { startServer } from '../../servers/harness.js';
import { asks, done, form, scripted, toolsResult, type WireRequest } from '../../servers/http.js';

const folder = temporaryFolder();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const ATTACK: Omit<Attack, 'run'> = {
  id: 'test',
  title: '',
  rule: '',
  severity: 'low',
  sends: '',
  safe: '',
  fix: '',
};

/** Audits with one attack that is the test itself. */
async function within(
  url: string,
  subject: Partial<Subject> & { readonly tool: string },
  use: (context: AuditContext) => Promise<void>,
) {
  const wire = new HttpWire({
    url,
    callers: { main: [['Authorization', 'Bearer ann']], other: [['Authorization', 'Bearer ben']] },
    timeoutMs: 5000,
  });
  let fault: unknown;
  const report = await audit({
    target: 'target',
    wire,
    subject: { callers: new Set(['main', 'other', 'anonymous']), ...subject },
    version: '1.2.3',
    attacks: [
      {
        ...ATTACK,
        run: async (context) => {
          await use(context).catch((error: unknown) => void (fault = error));
          return [];
        },
      },
    ],
  });
  if (fault !== undefined) throw fault;
  return report;
}

describe('a flow of three rounds', () => {
  it('is driven to its end, with arguments and answers made from schemas', async () => {
    const server = await startServer();
    open.push(server);
    const report = await within(
      server.url,
      { tool: 'transfer' },
      async ({ honest, otherTools, prompts, tool }) => {
        expect(honest.pauses.map(({ round, caller }) => [round, caller])).toEqual([
          [1, 'main'],
          [2, 'main'],
          [3, 'main'],
        ]);
        expect(honest.last.outcome.kind).toBe('done');
        expect(tool.arguments).toEqual({ account: 'current' });
        expect(otherTools.map(({ name }) => name)).toEqual(['refund', 'count']);
        expect(prompts).toEqual(['transfer']);
      },
    );
    expect(server.world.effects).toBe(1);
    expect(report).toMatchObject({ tool: 'transfer', rounds: 3, requests: 7 });
  });

  it('is walked anew each time, as any caller, and its effects are counted by the probe', async () => {
    const server = await startServer();
    open.push(server);
    const probe = { tool: 'count', arguments: {} };
    await within(server.url, { tool: 'transfer', probe }, async (context) => {
      const two = await context.walkTo(2);
      const again = await context.walkTo(2);
      const others = await context.walkTo(1, 'other');
      expect([two?.round, again?.round, others?.round, others?.caller]).toEqual([2, 2, 1, 'other']);
      expect(two?.state).not.toBe(again?.state);
      // There is no fourth: nothing is sent for it. It was driven to its end in the honest run.
      expect(await context.walkTo(4)).toBeUndefined();
      expect(await context.effects()).toBe(1);
      const three = await context.walkTo(3);
      if (three === undefined) throw new Error('no round 3');
      expect((await context.retry(three)).outcome.kind).toBe('done');
      expect(await context.effects()).toBe(2);
      if (others === undefined) throw new Error('no round 1 of the other caller');
      expect((await context.retry(others, { caller: 'main' })).outcome.kind).toBe('refused');
    });
  });

  it('is retried with what an attack changes, and with nothing else', async () => {
    const server = await startServer();
    open.push(server);
    await within(server.url, { tool: 'transfer' }, async (context) => {
      const pause = await context.walkTo(1);
      const retryOf: AuditContext['retryOf'] = (...args) => context.retryOf(...args);
      if (pause === undefined) throw new Error('no round 1');
      const honest = retryOf(pause);
      expect(honest.params).toMatchObject({
        name: 'transfer',
        arguments: { account: 'current' },
        requestState: pause.state,
        inputResponses: pause.answers,
        _meta: {
          [META.version]: '2026-07-28',
          [META.client]: { name: 'parley-audit', version: '1.2.3' },
          [META.capabilities]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        },
      });
      expect(retryOf(pause, { withoutState: true }).params).not.toHaveProperty('requestState');
      expect(retryOf(pause, { state: undefined }).params).not.toHaveProperty('requestState');
      expect(retryOf(pause, { state: null }).params['requestState']).toBeNull();
      expect(retryOf(pause, { withoutAnswers: true }).params).not.toHaveProperty('inputResponses');
      const meta = retryOf(pause, { meta: { [META.version]: null, [META.capabilities]: [] } }).params[
        '_meta'
      ];
      expect(meta).not.toHaveProperty([META.version]);
      expect(meta).toHaveProperty([META.capabilities], []);
      expect(
        retryOf(pause, {
          name: 'x',
          method: 'prompts/get',
          arguments: {},
          caller: 'other',
          headers: { 'Mcp-Name': null },
        }),
      ).toMatchObject({
        method: 'prompts/get',
        params: { name: 'x', arguments: {} },
        caller: 'other',
        headers: { 'Mcp-Name': null },
      });
    });
  });
});

describe('a server that', () => {
  it('mirrors parameters in headers gets them, in retries too (METH-16, MRTR-C-11)', async () => {
    const seen: (readonly unknown[])[] = [];
    const server = await tool(
      (nth, { headers }) => {
        seen.push([headers['mcp-param-region'], headers['mcp-param-day']]);
        return nth % 2 === 1 ? asks({ q: form('Q?') }, 'state') : done('ok');
      },
      {
        inputSchema: {
          type: 'object',
          properties: {
            region: { const: 'Köln', 'x-mcp-header': 'Region' },
            when: {
              type: 'object',
              properties: { day: { type: 'integer', default: 7, 'x-mcp-header': 'Day' } },
            },
          },
          required: ['region', 'when'],
        },
      },
    );
    await within(server.url, { tool: 't' }, async (context) => {
      const [pause] = context.honest.pauses;
      if (pause === undefined) throw new Error('no round 1');
      expect(context.retryOf(pause, { arguments: { region: 'x' } }).headers).toEqual({
        'Mcp-Param-Region': 'x',
      });
    });
    expect(seen).toEqual([
      ['=?base64?S8O2bG4=?=', '7'],
      ['=?base64?S8O2bG4=?=', '7'],
    ]);
  });

  it('asks with a state alone is asked again with it; an old state is not sent again (MRTR-C-03, MRTR-C-06)', async () => {
    const seen: unknown[] = [];
    const server = await tool((nth, { params }) => {
      seen.push([params['requestState'], params['inputResponses']]);
      if (nth === 1) return { resultType: 'input_required', requestState: 'A' };
      return nth === 2 ? asks({ q: form('Q?') }) : done('ok');
    });
    await within(server.url, { tool: 't' }, async ({ honest }) => {
      expect(honest.last.outcome.kind).toBe('done');
    });
    expect(seen).toEqual([
      [undefined, undefined],
      ['A', undefined],
      [undefined, { q: { action: 'accept', content: { text: 'audit' } } }],
    ]);
  });

  it('asks for ever is left after 20 rounds, and one that asks nothing at once', async () => {
    const endless = await tool(() => asks({ q: form('Q?') }, 'state'));
    await within(endless.url, { tool: 't' }, async ({ honest }) => {
      expect(honest.pauses).toHaveLength(20);
      expect(honest.last.outcome.kind).toBe('asked');
    });
    const empty = await tool(() => ({ resultType: 'input_required' }));
    await within(empty.url, { tool: 't' }, async ({ honest }) => expect(honest.pauses).toHaveLength(1));
  });

  it.each([
    ['asks nothing', () => done('ok'), 't asks nothing'],
    [
      'refuses',
      () => ({ code: -32_602, message: 'Wrong \u001b[2Jarguments' }),
      't refuses the first call (error -32602: Wrong \\u001b[2Jarguments)',
    ],
    ['fails', () => ({ code: -32_603, message: 'x' }), 't does not answer: an internal error (-32603).'],
    ['reports an error', () => ({ ...done('x'), isError: true }), 't reports an error at the first call.'],
    ['becomes a task', () => ({ resultType: 'task', task: {} }), 't becomes a task before it asks'],
  ])('%s cannot be audited, and the reason is told', async (_, script, reason) => {
    const server = await tool(script);
    await expect(within(server.url, { tool: 't' }, async () => undefined)).rejects.toThrow(reason);
  });

  it('has no such tool, or is of an earlier revision, cannot be audited', async () => {
    const server = await tool(() => done('ok'));
    await expect(within(server.url, { tool: 'x' }, async () => undefined)).rejects.toThrow(
      'The target has no tool x. It has: t.',
    );
    const old = await scripted(() => ({ code: -32_600, message: 'no session' }), { isModern: false });
    open.push(old);
    await expect(within(old.url, { tool: 't' }, async () => undefined)).rejects.toThrow(
      'does not speak revision 2026-07-28',
    );
  });
});

/** A server with one tool, whose nth call is answered by the script. */
async function tool(
  script: (nth: number, request: WireRequest) => unknown,
  more: Record<string, unknown> = {},
) {
  let nth = 0;
  const server = await scripted((request) => {
    if (request.method === 'tools/list') return toolsResult({ name: 't', ...more });
    if (request.method !== 'tools/call') return { code: -32_601, message: 'no' };
    return script((nth += 1), request);
  });
  open.push(server);
  return server;
}

describe('answers', () => {
  async function answers(file: unknown) {
    const path = join(folder, 'answers.json');
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
    return readAnswers(path);
  }
  const question = {
    method: 'elicitation/create',
    params: { requestedSchema: { properties: { a: { const: 1 } }, required: ['a'] } },
  };

  it('come from the file, one for each asking in a flow, and else from the schema', async () => {
    const written = await answers({ q: [{ a: 2 }, { action: 'decline', content: {} }] });
    const answer = answererOf(written);
    expect([
      answer('q', question),
      answer('q', question),
      answer('q', question),
      answer('p', question),
    ]).toEqual([
      { action: 'accept', content: { a: 2 } },
      { action: 'decline' },
      { action: 'accept', content: { a: 1 } },
      { action: 'accept', content: { a: 1 } },
    ]);
    // Another flow begins anew.
    expect(answererOf(written)('q', question)).toEqual({ action: 'accept', content: { a: 2 } });
  });

  it('are consent to a page, a short text of a model, and no roots', () => {
    const answer = answererOf();
    expect(answer('u', { method: 'elicitation/create', params: { mode: 'url' } })).toEqual({
      action: 'accept',
    });
    expect(answer('s', { method: 'sampling/createMessage', params: {} })).toMatchObject({
      role: 'assistant',
    });
    expect(answer('r', { method: 'roots/list', params: {} })).toEqual({ roots: [] });
  });

  it.each(['[]', '{"q":1}', '{"q":[]}', 'x'])('are not read from %s', async (file) => {
    await expect(answers(file)).rejects.toThrow('answers.json');
  });
});
