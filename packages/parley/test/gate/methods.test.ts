import { ResourceTemplate } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { WIRE_CODES, type Flow, type Flows } from '../../src/index.js';
import { accept, instance, stateOf, textOf } from './wire-harness.js';

const form = { message: 'Your name?', schema: z.object({ name: z.string() }) };

async function nameOf(flow: Flow): Promise<string> {
  return (await flow.form('name', form)).name;
}

function setup(flows: Flows): void {
  flows.registerTool(
    'greet',
    { inputSchema: z.object({ greeting: z.string() }) },
    async ({ greeting }, flow) => ({
      content: [{ type: 'text', text: `${greeting} ${await nameOf(flow)}` }],
    }),
  );
  flows.registerTool('typed', { outputSchema: z.object({ name: z.string() }) }, async (flow) => {
    const name = await nameOf(flow);
    return { content: [{ type: 'text', text: name }], structuredContent: { name } };
  });
  flows.registerPrompt('brief', { argsSchema: z.object({ topic: z.string() }) }, async ({ topic }, flow) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `${topic} for ${await nameOf(flow)}` } }],
  }));
  flows.registerResource('note', 'note://one', { title: 'Note' }, async (uri, flow) => ({
    contents: [{ uri: uri.href, text: await nameOf(flow) }],
  }));
  flows.registerResource(
    'page',
    new ResourceTemplate('page://{id}', { list: undefined }),
    {},
    async (uri, { id }, flow) => ({
      contents: [{ uri: uri.href, text: `${String(id)} ${await nameOf(flow)}` }],
    }),
  );
}

const ada = { name: accept({ name: 'Ada' }) };

describe('the three methods that may ask (MRTR-S-02)', () => {
  it.each([
    ['a tool', 'tools/call', 'greet', { greeting: 'Hello' }, 'Hello Ada'],
    [
      'a tool with an output schema (METH-07)',
      'tools/call',
      'typed',
      {},
      '"structuredContent":{"name":"Ada"}',
    ],
    ['a prompt', 'prompts/get', 'brief', { topic: 'Engines' }, 'Engines for Ada'],
    ['a resource', 'resources/read', 'note://one', undefined, '"text":"Ada"'],
    ['a resource of a template', 'resources/read', 'page://7', undefined, '"text":"7 Ada"'],
  ] as const)('%s', async (_, method, target, args, expected) => {
    const server = instance(setup);
    const more = args === undefined ? {} : { arguments: args };
    const asked = await server.call(method, target, more);
    expect(asked.result?.resultType).toBe('input_required');
    expect(asked.result).not.toHaveProperty('ttlMs'); // MRTR-S-20
    const done = await server.call(method, target, {
      ...more,
      requestState: stateOf(asked),
      inputResponses: ada,
    });
    expect(done.result?.resultType).toBe('complete');
    expect(done.text).toContain(expected);
  });

  it('arguments are validated in every round (MRTR-S-17)', async () => {
    const server = instance(setup);
    const wrong = await server.call('tools/call', 'greet', { arguments: { greeting: 5 } });
    expect(wrong.result?.isError).toBe(true);
  });

  it('policies are not shown to clients', async () => {
    const server = instance((flows) => {
      flows.registerResource('note', 'note://one', { title: 'Note', version: '7', ttl: 1000 }, (uri) => ({
        contents: [{ uri: uri.href, text: 'x' }],
      }));
    });
    const done = await server.call('resources/read', 'note://one');
    expect(done.text).not.toContain('"version":"7"');
  });
});

describe('a question that is refused (FORM-27)', () => {
  it.each([
    ['decline', 'declined'],
    ['cancel', 'cancelled'],
  ] as const)('%s ends a tool call as a tool error that names the question', async (action, word) => {
    const server = instance(setup);
    const asked = await server.call('tools/call', 'greet', { arguments: { greeting: 'Hello' } });
    const done = await server.call('tools/call', 'greet', {
      arguments: { greeting: 'Hello' },
      requestState: stateOf(asked),
      inputResponses: { name: { action } },
    });
    expect(done.result?.isError).toBe(true);
    expect(textOf(done)).toBe(`The question 'name' was ${word}, so the call was not carried out.`);
  });

  it('ends a prompt as a JSON-RPC error with a code outside the reserved ranges (CORE-18)', async () => {
    const server = instance(setup);
    const asked = await server.call('prompts/get', 'brief', { arguments: { topic: 'Engines' } });
    const done = await server.call('prompts/get', 'brief', {
      arguments: { topic: 'Engines' },
      requestState: stateOf(asked),
      inputResponses: { name: { action: 'decline' } },
    });
    expect(done.error?.code).toBe(WIRE_CODES.inputRefused);
    expect(done.error?.data).toEqual({ reason: 'input_refused', action: 'decline' });
    expect(done.error?.code).toBeGreaterThan(-32_000);
  });
});

describe('a client that cannot be asked (MRTR-S-07, MRTR-S-08, META-06)', () => {
  it('is told which capability is missing, with HTTP 400', async () => {
    const server = instance(setup);
    const answer = await server.call('tools/call', 'greet', {
      arguments: { greeting: 'Hello' },
      capabilities: {},
    });
    expect(answer.status).toBe(400);
    expect(answer.error?.code).toBe(-32_021);
    expect(answer.error?.data).toEqual({ requiredCapabilities: { elicitation: { form: {} } } });
  });

  it('declares its capabilities anew in each round (CORE-21, META-08)', async () => {
    const server = instance((flows) => {
      flows.registerTool('two', {}, async (flow) => {
        await nameOf(flow);
        await flow.confirm('go', 'Go?');
        return { content: [] };
      });
    });
    const asked = await server.call('tools/call', 'two');
    const answer = await server.call('tools/call', 'two', {
      requestState: stateOf(asked),
      inputResponses: ada,
      capabilities: {},
    });
    expect(answer.error?.code).toBe(-32_021);
  });

  it('is seen by the flow as it declared itself', async () => {
    const server = instance((flows) => {
      flows.registerTool('view', {}, (flow) => ({
        content: [
          { type: 'text', text: JSON.stringify({ ...flow.client, extensions: [...flow.client.extensions] }) },
        ],
      }));
    });
    const view = async (capabilities: Record<string, unknown>): Promise<unknown> =>
      JSON.parse(textOf(await server.call('tools/call', 'view', { capabilities })) ?? '');
    expect(await view({})).toEqual({
      elicitation: { form: false, url: false },
      sampling: { messages: false, tools: false },
      roots: false,
      extensions: [],
    });
    // FORM-02, FORM-04, ROOT-02
    expect(await view({ elicitation: {}, roots: { listChanged: true } })).toMatchObject({
      elicitation: { form: true, url: false },
      roots: true,
    });
    expect(await view({ elicitation: { url: {} }, extensions: { 'com.example/x': {} } })).toMatchObject({
      elicitation: { form: false, url: true },
      extensions: ['com.example/x'],
    });
  });
});

describe('a flow in all of its kinds of questions', () => {
  it('asks form, url, sampling and roots in one round and gets each answer', async () => {
    const server = instance((flows) => {
      flows.registerTool('all', {}, async (flow) => {
        const [name, consent, message, roots] = await Promise.all([
          nameOf(flow),
          flow.elicitUrl('sign-in', { message: 'Sign in', url: 'https://example.com/sign-in' }),
          flow.createMessage('poem', {
            messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
            maxTokens: 9,
          }),
          flow.listRoots('roots'),
        ]);
        return {
          content: [{ type: 'text', text: [name, consent.action, message.model, roots[0]?.uri].join(' ') }],
        };
      });
    });
    const asked = await server.call('tools/call', 'all');
    const requests = asked.result?.inputRequests ?? {};
    expect(Object.entries(requests).map(([key, { method }]) => `${key} ${method}`)).toEqual([
      'name elicitation/create',
      'sign-in elicitation/create',
      'poem sampling/createMessage',
      'roots roots/list',
    ]);
    // CORE-07: bare requests, no envelope of their own
    for (const request of Object.values(requests))
      expect(Object.keys(request).toSorted()).toEqual(['method', 'params']);
    const done = await server.call('tools/call', 'all', {
      requestState: stateOf(asked),
      inputResponses: {
        ...ada,
        'sign-in': { action: 'accept' },
        poem: { role: 'assistant', content: { type: 'text', text: 'Roses' }, model: 'm' },
        roots: { roots: [{ uri: 'file:///home', name: 'Home' }] },
      },
    });
    expect(textOf(done)).toBe('Ada accept m file:///home');
  });
});
