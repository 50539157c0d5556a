import { acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { drive, prefill, Stepper, type FormQuestion } from '../../src/client/index.js';
import {
  CALL,
  connect,
  done,
  interim,
  optionsWith,
  scripted,
  TASKS,
  testClock,
  textForm,
  URL_OF_SERVER,
} from './harness.js';

const region = z.object({ region: z.enum(['eu', 'us']) });

function answersOf(question: FormQuestion) {
  const { properties } = question.schema;
  if ('confirm' in properties) return { action: 'accept', content: { confirm: true } } as const;
  return { action: 'accept', content: { region: 'eu' } } as const;
}

describe('drive, over flows of ours', () => {
  it('a tool of three rounds', async () => {
    let built = 0;
    const { client, sent } = await connect((flows) => {
      flows.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, flow) => {
        const build = await flow.step('build', () => (built += 1));
        const form = await flow.form('region', { message: 'Region?', schema: region });
        const isSure = await flow.confirm('go', `Deploy to ${form.region}?`);
        return { content: [{ type: 'text', text: `${build} ${env} ${form.region} ${isSure}` }] };
      });
    });
    const asked: unknown[] = [];
    const result = await drive(
      client,
      { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'prod' } } },
      optionsWith({
        handlers: {
          form: (question, context) => {
            asked.push([question.key, context.server, context.round]);
            return answersOf(question);
          },
        },
      }),
    );
    expect(result.content).toEqual([{ type: 'text', text: '1 prod eu true' }]);
    expect(built).toBe(1);
    const server = { url: URL_OF_SERVER, principal: null };
    expect(asked).toEqual([
      ['region', server, 1],
      ['go', server, 2],
    ]);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
    expect(sent.map(({ params }) => params.inputResponses && Object.keys(params.inputResponses))).toEqual([
      undefined,
      ['region'],
      ['go'],
    ]);
    for (const { params } of sent) {
      expect(params).toMatchObject({ name: 'deploy', arguments: { env: 'prod' } });
      expect(params._meta?.['io.modelcontextprotocol/clientCapabilities']).toEqual({
        elicitation: { form: {} },
        extensions: TASKS,
      });
      expect(params._meta?.['io.modelcontextprotocol/protocolVersion']).toBe('2026-07-28');
    }
  });

  it('a prompt and a resource, whose results are never taken from a cache', async () => {
    let reads = 0;
    const { client, sent } = await connect((flows) => {
      flows.registerPrompt(
        'plan',
        { argsSchema: z.object({ topic: z.string() }) },
        async ({ topic }, flow) => {
          const form = await flow.form('region', { message: 'Region?', schema: region });
          return { messages: [{ role: 'user', content: { type: 'text', text: `${topic} ${form.region}` } }] };
        },
      );
      flows.registerResource('prices', 'test://prices', {}, async (uri, flow) => {
        reads += 1;
        const form = await flow.form('region', { message: 'Region?', schema: region });
        return { contents: [{ uri: uri.href, text: form.region }], ttlMs: 60_000, cacheScope: 'private' };
      });
    });
    const options = optionsWith({ handlers: { form: answersOf } });
    const prompt = await drive(
      client,
      { method: 'prompts/get', params: { name: 'plan', arguments: { topic: 'x' } } },
      options,
    );
    expect(prompt.messages[0]?.content).toEqual({ type: 'text', text: 'x eu' });
    for (const times of [2, 4]) {
      const resource = await drive(
        client,
        { method: 'resources/read', params: { uri: 'test://prices' } },
        options,
      );
      expect(resource.contents).toMatchObject([{ text: 'eu' }]);
      expect(reads).toBe(times);
    }
    expect(sent).toHaveLength(6);
  });

  it('a wait for a page: state-only rounds are paced, and say nothing to anybody', async () => {
    let polls = 0;
    const { client, sent } = await connect((flows) => {
      flows.registerTool('t', {}, async (flow) => {
        await flow.elicitUrl('sign', { message: 'Sign in', url: 'https://example.com/sign?x=1' });
        const name = await flow.waitFor('signed', () => ((polls += 1) > 8 ? 'ann' : undefined), {
          hold: 1,
          every: 1,
        });
        return { content: [{ type: 'text', text: name }] };
      });
    });
    const clock = testClock();
    const consents: unknown[] = [];
    const result = await drive(
      client,
      CALL,
      optionsWith({
        clock,
        handlers: {
          url: ({ url, host, warnings }) => {
            consents.push({ url, host, warnings });
            return { action: 'accept' };
          },
        },
      }),
    );
    expect(result.content).toEqual([{ type: 'text', text: 'ann' }]);
    expect(consents).toEqual([{ url: 'https://example.com/sign?x=1', host: 'example.com', warnings: [] }]);
    expect(clock.slept.length).toBeGreaterThan(0);
    expect(clock.slept).toEqual(clock.slept.map((_, index) => Math.min(250 * 2 ** index, 5000)));
    expect(sent[1]?.params.inputResponses).toEqual({ sign: { action: 'accept' } });
    for (const { params } of sent.slice(2)) expect('inputResponses' in params).toBe(false);
  });

  it('a decline is told to the server; the flow decides', async () => {
    const { client } = await connect((flows) => {
      flows.registerTool('t', {}, async (flow) => {
        const outcome = await flow.elicit('region', { message: 'Region?', schema: region });
        return { content: [{ type: 'text', text: outcome.action }] };
      });
    });
    for (const action of ['decline', 'cancel'] as const) {
      const handlers = { form: () => ({ action, content: { region: 'eu' } }) };
      const result = await drive(client, CALL, optionsWith({ handlers }));
      expect(result.content).toEqual([{ type: 'text', text: action }]);
    }
  });
});

describe('drive, over servers of others', () => {
  it('one written by hand with the SDK', async () => {
    const { client, sent } = await connect((_flows, mcp) => {
      mcp.registerTool('book', { inputSchema: z.object({ to: z.string() }) }, ({ to }, ctx) => {
        const seats = acceptedContent<{ seats: number }>(ctx.mcpReq.inputResponses, 'seats');
        if (seats !== undefined) return { content: [{ type: 'text', text: `${to} ${seats.seats}` }] };
        const requestedSchema = {
          type: 'object',
          properties: { seats: { type: 'integer', default: 2 } },
        } as const;
        return inputRequired({
          inputRequests: { seats: inputRequired.elicit({ message: 'Seats?', requestedSchema }) },
        });
      });
    });
    const result = await drive(
      client,
      { method: 'tools/call', params: { name: 'book', arguments: { to: 'Rome' } } },
      optionsWith({
        handlers: { form: ({ schema }) => ({ action: 'accept', content: prefill(schema) }) },
      }),
    );
    expect(result.content).toEqual([{ type: 'text', text: 'Rome 2' }]);
    expect(sent).toHaveLength(2);
  });

  it('echoes the latest state character by character, none where there is none, and an empty one', async () => {
    const odd = '{"b":1, "a":2}\u0000\u2028é😀 \\u0041';
    const states = [odd, undefined, '', 'A', undefined];
    const { client, sent } = await scripted((_request, nth) =>
      nth > states.length
        ? done()
        : interim({
            inputRequests: { [`k${nth}`]: textForm() },
            ...(states[nth - 1] !== undefined && { requestState: states[nth - 1] }),
          }),
    );
    await drive(client, CALL, optionsWith());
    expect(sent.slice(1).map(({ params }) => params.requestState)).toEqual(states);
    expect(sent.slice(1).map(({ params }) => 'requestState' in params)).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  it('takes every key for what it is', async () => {
    const keys = ['', 'undefined', '__proto__', 'constructor', 'toString'];
    const { client, sent } = await scripted((_request, nth) => {
      if (nth > 1) return done();
      const asks = Object.create(null) as Record<string, unknown>;
      for (const key of keys) asks[key] = textForm(`For ${key}`);
      return interim({ inputRequests: asks });
    });
    const asked: FormQuestion[] = [];
    await drive(
      client,
      CALL,
      optionsWith({
        handlers: {
          form: (question) => {
            asked.push(question);
            return { action: 'accept', content: { text: question.message } };
          },
        },
      }),
    );
    const answers = Object.entries(sent[1]?.params.inputResponses ?? {});
    expect(answers).toEqual(
      asked.map(({ key }) => [key, { action: 'accept', content: { text: `For ${key}` } }]),
    );
    expect(asked.map(({ key }) => key)).toEqual(keys);
    expect(({} as Record<string, unknown>)['method']).toBeUndefined();
  });

  it('answers sampling and roots, under the checks of their shape', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      nth > 1
        ? done()
        : interim({
            inputRequests: {
              s: {
                method: 'sampling/createMessage',
                params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 },
              },
              r: { method: 'roots/list' },
            },
          }),
    );
    const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hello' } } as const;
    await drive(
      client,
      CALL,
      optionsWith({
        handlers: {
          sampling: ({ params }) => {
            expect(params.maxTokens).toBe(5);
            return { action: 'accept', result };
          },
          roots: () => ({ action: 'accept', roots: [{ uri: 'file:///srv', name: 'srv' }] }),
        },
      }),
    );
    expect(sent[1]?.params.inputResponses).toEqual({
      s: result,
      r: { roots: [{ uri: 'file:///srv', name: 'srv' }] },
    });
    expect(sent[0]?.params._meta?.['io.modelcontextprotocol/clientCapabilities']).toEqual({
      sampling: {},
      roots: {},
      extensions: TASKS,
    });
  });

  it('asks one question after another', async () => {
    const { client } = await scripted((_request, nth) =>
      nth > 1 ? done() : interim({ inputRequests: { a: textForm(), b: textForm(), c: textForm() } }),
    );
    let open = 0;
    let most = 0;
    const form = async () => {
      most = Math.max(most, (open += 1));
      await new Promise(setImmediate);
      open -= 1;
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(most).toBe(1);
  });
});

describe('the stepper', () => {
  it('gives a state that is plain JSON, and goes on from its copy', async () => {
    const { client } = await connect((flows) => {
      flows.registerTool('t', {}, async (flow) => {
        const form = await flow.form('region', { message: 'Region?', schema: region });
        return { content: [{ type: 'text', text: form.region }] };
      });
    });
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const first = await stepper.begin(CALL);
    if (first.type !== 'pending') throw new Error('no question');
    const copy = JSON.parse(JSON.stringify(first.flow)) as typeof first.flow;
    expect(copy).toEqual(first.flow);
    expect(first.flow).toMatchObject({
      format: 'parley-flow',
      version: 1,
      revision: 2,
      round: 1,
      waits: 0,
      request: CALL,
    });
    const last = await stepper.next(copy, { region: { action: 'accept', content: { region: 'us' } } });
    expect(last).toMatchObject({ type: 'result', result: { content: [{ text: 'us' }] } });
  });
});
