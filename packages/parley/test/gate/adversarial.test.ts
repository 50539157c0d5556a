import {
  inputRequired,
  ResourceTemplate,
  type CallToolResult,
  type Result,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  ConfigurationError,
  generateKey,
  Parley,
  type FlowToolConfig,
  type McpFlow,
} from '../../src/index.js';
import { accept, instance, stateOf, TEST_KEY, textOf, type Instance } from './wire-harness.js';

/** What reviewers found, each once. */

const text = (value: unknown): CallToolResult => ({ content: [{ type: 'text', text: String(value) }] });

function tool(
  handler: (flow: McpFlow) => Promise<unknown>,
  config: FlowToolConfig<undefined, never> = {},
): Instance {
  return instance((flows) => {
    flows.registerTool('t', config, async (flow) => text(await handler(flow)));
  });
}

describe('what was drawn', () => {
  it('falls away with the answer after which it was drawn, and shifts nobody else', async () => {
    let price = 1;
    const charged: string[] = [];
    const drawn: Record<string, string[]> = { a: [], b: [] };
    const server = tool(async (flow) => {
      const a = async (): Promise<void> => {
        await flow.confirm('a', `Pay ${price}?`);
        drawn['a']?.push(flow.uuid());
      };
      const b = async (): Promise<void> => {
        await flow.confirm('b', 'And b?');
        const id = flow.uuid();
        drawn['b']?.push(id);
        await flow.step('charge', () => void charged.push(id));
      };
      await Promise.all([a(), b()]);
      await flow.confirm('end', 'End?');
      return 'done';
    });
    const yes = accept({ confirm: true });
    const first = await server.call('tools/call', 't');
    const second = await server.call('tools/call', 't', {
      requestState: stateOf(first),
      inputResponses: { a: yes, b: yes },
    });
    price = 2;
    const third = await server.call('tools/call', 't', { requestState: stateOf(second), inputResponses: {} });
    const fourth = await server.call('tools/call', 't', {
      requestState: stateOf(third),
      inputResponses: { a: yes },
    });
    const last = await server.call('tools/call', 't', {
      requestState: stateOf(fourth),
      inputResponses: { end: yes },
    });
    expect(textOf(last)).toBe('done');
    expect(new Set(drawn['b'])).toEqual(new Set(charged));
    expect(charged).toHaveLength(1);
    expect(drawn['a']).not.toContain(charged[0]);
  });
});

describe('work that was done', () => {
  it('is not done again because its result was no JSON', async () => {
    let runs = 0;
    const server = tool(async (flow) => {
      const failing = flow.step('pay', () => {
        runs += 1;
        return { at: new Date() as unknown as string };
      });
      const failure = await failing.catch((error: unknown) => (error as Error).message);
      await flow.confirm('go', 'Go?');
      return failure;
    });
    const first = await server.call('tools/call', 't');
    const done = await server.call('tools/call', 't', {
      requestState: stateOf(first),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(runs).toBe(1);
    expect(textOf(done)).toMatch(/result of step 'pay' cannot be recorded: an instance of Date at result.at/);
  });

  it('is not begun for a request whose state could not be bound afterwards', async () => {
    let runs = 0;
    const setup = (options: ConstructorParameters<typeof Parley>[0] = {}): Instance =>
      instance((flows) => {
        flows.registerTool('t', { inputSchema: z.looseObject({}) }, async (_args, flow) => {
          await flow.step('work', () => void (runs += 1));
          await flow.confirm('go', 'Go?');
          return text('done');
        });
      }, options);
    const unbindable = await setup().call('tools/call', 't', { arguments: { a: '\uD800' } });
    expect(unbindable.error?.code).toBe(-32_602);
    const nobody = setup({
      principal: () => {
        throw new Error('down');
      },
    });
    expect((await nobody.call('tools/call', 't')).error?.code).toBe(-32_603);
    expect(runs).toBe(0);
  });
});

describe('errors that would end a process that serves others', () => {
  it('a rejected resolver that nobody looks at does not', async () => {
    const server = tool(async (flow) => {
      const who = flow.use(
        async (inner) =>
          (await inner.form('who', { message: 'Who?', schema: z.object({ n: z.string() }) })).n,
      );
      await flow.confirm('other', 'Other?');
      return await who;
    });
    const first = await server.call('tools/call', 't');
    const next = await server.call('tools/call', 't', {
      requestState: stateOf(first),
      inputResponses: { who: { action: 'decline' } },
    });
    expect(next.result?.resultType).toBe('input_required');
  });

  it.each([
    ['an error whose message is no text', () => Object.assign(new Error(), { message: { detail: 1 } })],
    ['an object without a prototype', () => Object.create(null) as object],
  ])('a step that throws %s fails as a step', async (_, make) => {
    const server = tool((flow) =>
      flow.step('s', () => {
        throw make();
      }),
    );
    const answer = await server.call('tools/call', 't');
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/^Step 's' failed/);
  });
});

describe('binding', () => {
  it.each([1, { id: 1 }, ['a'], null])(
    'a subject that is %j fails the request, and is never left out',
    async (sub) => {
      const server = tool((flow) => flow.confirm('go', 'Go?'));
      const auth = { token: 't', clientId: 'app', scopes: [], extra: { iss: 'https://i.example', sub } };
      const answer = await server.call('tools/call', 't', { auth });
      expect(answer.error).toEqual({ code: -32_603, message: 'Internal error' });
    },
  );

  it('authentication without a subject is taken as the client, and said once', async () => {
    const server = tool((flow) => flow.confirm('go', 'Go?'));
    for (let index = 0; index < 3; index += 1) {
      await server.call('tools/call', 't', { auth: { token: 't', clientId: 'app', scopes: [] } });
    }
    expect(server.warnings.filter((line) => line.includes('without a subject'))).toHaveLength(1);
  });

  it('a handler with schemas of its own is bound to what was sent, not to what the schema makes of it', async () => {
    const ran: unknown[] = [];
    const server = instance((_flows, mcp) => {
      mcp.server.registerCapabilities({ tools: {} });
      const params = z
        .looseObject({ name: z.string() })
        .transform((sent) => ({ tool: sent.name, args: sent['arguments'] }));
      mcp.server.setRequestHandler('tools/call', { params }, (sent, ctx): Result => {
        if (ctx.mcpReq.requestState() !== undefined) {
          ran.push(sent);
          return text('ran');
        }
        return inputRequired({ requestState: 'approved' });
      });
    });
    const state = stateOf(await server.call('tools/call', 'harmless', { arguments: { amount: 1 } }));
    const other = await server.call('tools/call', 'wire', {
      arguments: { amount: 1_000_000 },
      requestState: state,
    });
    expect(other.error?.code).toBe(-32_602);
    expect(server.rejections).toEqual(['request']);
    expect(ran).toEqual([]);
    const same = await server.call('tools/call', 'harmless', {
      arguments: { amount: 1 },
      requestState: state,
    });
    expect(textOf(same)).toBe('ran');
  });

  it('the handler of last resort is behind the gate too', async () => {
    const server = instance((_flows, mcp) => {
      mcp.server.registerCapabilities({ tools: {} });
      mcp.server.fallbackRequestHandler = (_request, ctx): Promise<Result> =>
        Promise.resolve(
          ctx.mcpReq.requestState() === 'plain' ? text('went on') : inputRequired({ requestState: 'plain' }),
        );
    });
    const asked = await server.call('tools/call', 'any');
    expect(stateOf(asked)).toMatch(/^parley1\./);
    expect((await server.call('tools/call', 'any', { requestState: 'plain' })).error?.code).toBe(-32_602);
    const done = await server.call('tools/call', 'any', { requestState: stateOf(asked) });
    expect(textOf(done)).toBe('went on');
  });
});

describe('dispatch', () => {
  it('a resource written by hand beside a template that is a flow keeps its states', async () => {
    const server = instance((flows, mcp) => {
      mcp.registerResource('index', 'doc://index', {}, (uri, ctx) =>
        ctx.mcpReq.requestState() === 'seen'
          ? { contents: [{ uri: uri.href, text: 'index' }] }
          : inputRequired({ requestState: 'seen' }),
      );
      flows.registerResource(
        'doc',
        new ResourceTemplate('doc://{id}', { list: undefined }),
        {},
        async (uri, { id }, flow) => ({
          contents: [{ uri: uri.href, text: `${String(id)} ${await flow.confirm('go', 'Read?')}` }],
        }),
      );
    });
    const asked = await server.call('resources/read', 'doc://index');
    const index = await server.call('resources/read', 'doc://index', { requestState: stateOf(asked) });
    expect(index.text).toContain('"text":"index"');
    const askedDoc = await server.call('resources/read', 'doc://7');
    const doc = await server.call('resources/read', 'doc://7', {
      requestState: stateOf(askedDoc),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(doc.text).toContain('"text":"7 true"');
  });

  it('a handler by hand in the place of a flow is not run as if there were no state', async () => {
    let replaced = false;
    let ran = 0;
    const server = instance((flows, mcp) => {
      if (replaced) {
        mcp.registerResource('one', 'doc://one', {}, (uri, ctx) => {
          ctx.mcpReq.requestState();
          ran += 1;
          return { contents: [{ uri: uri.href, text: 'by hand' }] };
        });
      }
      flows.registerResource(
        'doc',
        new ResourceTemplate('doc://{id}', { list: undefined }),
        {},
        async (uri, _v, flow) => ({
          contents: [{ uri: uri.href, text: String(await flow.confirm('go', 'Read?')) }],
        }),
      );
    });
    const asked = await server.call('resources/read', 'doc://one');
    replaced = true;
    const answer = await server.call('resources/read', 'doc://one', { requestState: stateOf(asked) });
    expect(answer.error?.code).toBe(-32_602);
    expect(ran).toBe(0);
  });

  it('removing one template leaves the others', async () => {
    const server = instance((flows) => {
      const read = async (
        uri: URL,
        _v: unknown,
        flow: McpFlow,
      ): Promise<{ contents: { uri: string; text: string }[] }> => ({
        contents: [{ uri: uri.href, text: String(await flow.confirm('go', 'Read?')) }],
      });
      const a = flows.registerResource('a', new ResourceTemplate('a://{id}', { list: undefined }), {}, read);
      flows.registerResource('b', new ResourceTemplate('b://{id}', { list: undefined }), {}, read);
      a.update({ callback: (uri) => ({ contents: [{ uri: uri.href, text: 'by hand' }] }) });
      a.remove();
    });
    const asked = await server.call('resources/read', 'b://1');
    const done = await server.call('resources/read', 'b://1', {
      requestState: stateOf(asked),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(done.text).toContain('"text":"true"');
  });

  it('a flow that returns a question of the SDK is told what to do instead', async () => {
    const server = instance((flows) => {
      flows.registerTool('t', {}, () => inputRequired({ requestState: 'x' }) as unknown as CallToolResult);
    });
    const answer = await server.call('tools/call', 't');
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/Ask with flow.form\(\)/);
  });

  it('two libraries cannot both stand in front of one server', async () => {
    const server = instance((_flows, mcp) => {
      new Parley({ keys: TEST_KEY, logger: { warn: () => undefined } }).attach(mcp);
    });
    expect((await server.call('tools/call', 't')).status).toBe(500);
  });
});

describe('what a client is told', () => {
  it('all capabilities that are missing, in one object (META-07), and no event speaks of a suspension', async () => {
    const server = tool(async (flow) => {
      await Promise.all([
        flow.confirm('a', 'A?'),
        flow.elicitUrl('b', { message: 'B', url: 'https://example.com' }),
        flow.listRoots('c'),
        flow.createMessage('d', {
          messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
          maxTokens: 1,
          toolChoice: {},
        }),
      ]);
    });
    const answer = await server.call('tools/call', 't', {
      capabilities: { elicitation: { url: {} }, sampling: {} },
    });
    expect(answer.status).toBe(400);
    expect(answer.error?.data).toEqual({
      requiredCapabilities: { elicitation: { form: {} }, roots: {}, sampling: { tools: {} } },
    });
    expect(server.events.map(({ name }) => name)).toEqual([]);
  });

  it('what makes a state too large, in bytes, for texts outside of ASCII too', async () => {
    const server = tool(async (flow) => {
      await flow.step('poem', () => '詩'.repeat(20_000));
      await flow.confirm('go', 'Go?');
    });
    const answer = textOf(await server.call('tools/call', 't'));
    expect(answer).toMatch(/would take 80\d\d\d bytes; the limit is 49152 .*'poem' 600\d\d/);
  });

  it('the choices that its own question has, when a handler changes its schema between requests', async () => {
    const schema = { type: 'object', properties: { r: { type: 'string', enum: ['a'] } } } as const;
    let choices: readonly string[] = ['alice-only'];
    const server = tool(async (flow) => {
      Object.assign(schema.properties.r, { enum: choices });
      return await flow.elicit('r', { message: 'Which?', schema });
    });
    await server.call('tools/call', 't');
    choices = ['bob-only'];
    const second = await server.call('tools/call', 't');
    expect(second.text).toContain('bob-only');
    expect(second.text).not.toContain('alice-only');
  });
});

describe('policy', () => {
  it('a handler that gets its first version can go on with what had none', async () => {
    let config: FlowToolConfig<undefined, never> = {};
    const server = instance((flows) => {
      flows.registerTool('t', config, async (flow) => text(await flow.confirm('go', 'Go?')));
    });
    const asked = await server.call('tools/call', 't');
    config = { version: '1', accepts: [null] };
    const done = await server.call('tools/call', 't', {
      requestState: stateOf(asked),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(textOf(done)).toBe('true');
  });

  it('a skew of clocks is allowed for where it is configured', async () => {
    let time = Date.UTC(2026, 6, 28);
    const server = instance(
      (flows) => {
        flows.registerTool('t', { ttl: 1_000 }, async (flow) => text(await flow.confirm('go', 'Go?')));
      },
      { now: () => time, clockSkew: 500 },
    );
    const requestState = stateOf(await server.call('tools/call', 't'));
    time += 1_500;
    expect((await server.call('tools/call', 't', { requestState })).result?.resultType).toBe(
      'input_required',
    );
    time += 1;
    expect((await server.call('tools/call', 't', { requestState })).error?.code).toBe(-32_602);
  });

  it('a ring of which no key is active yet is refused at start', () => {
    const keys = [{ key: generateKey(), activateAt: Date.now() + 60_000 }];
    expect(() => new Parley({ keys })).toThrow(ConfigurationError);
  });

  it('rounds that only wait do not use up the rounds that ask', async () => {
    let checks = 0;
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await flow.waitFor('sign-in', () => (checks += 1) >= 5 || undefined, { hold: 0, every: 1 });
          return text(await flow.confirm('go', 'Go?'));
        });
      },
      { limits: { rounds: 2 } },
    );
    let answer = await server.call('tools/call', 't');
    while (answer.result?.resultType === 'input_required' && answer.result.inputRequests === undefined) {
      answer = await server.call('tools/call', 't', { requestState: stateOf(answer) });
    }
    const done = await server.call('tools/call', 't', {
      requestState: stateOf(answer),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(textOf(done)).toBe('true');
  });

  it('a check that hangs holds a round no longer than it may', async () => {
    const server = tool((flow) =>
      flow.waitFor('w', () => new Promise<string>(() => undefined), { hold: 5, every: 5 }),
    );
    const answer = await server.call('tools/call', 't');
    expect(answer.result?.resultType).toBe('input_required');
    expect(answer.result).not.toHaveProperty('inputRequests');
  });
});
