import { inputRequired, acceptedContent } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { drive, resume, Stepper, type FormQuestion } from '../../src/client/index.js';
import type { Flows } from '../../src/index.js';
import { CALL, failureOf, filling, optionsWith, testClock, URL_OF_SERVER } from './harness.js';
import { connect2025 } from './legacy-harness.js';
import { FLOW } from './stores.js';

const schema = z.object({ text: z.string() });

function twoForms(_mcp: unknown, flows: Flows): void {
  flows.registerTool('t', { inputSchema: z.object({ a: z.int() }) }, async ({ a }, flow) => {
    const [one, two] = await Promise.all([
      flow.form('one', { message: 'One?', schema }),
      flow.form('two', { message: 'Two?', schema }),
    ]);
    return { content: [{ type: 'text', text: `${a} ${one.text} ${two.text}` }] };
  });
}

describe('drive on a connection of 2025-11-25', () => {
  it('asks the same handlers, one after another, for the same result', async () => {
    const { client } = await connect2025(twoForms);
    const asked: FormQuestion[] = [];
    let open = 0;
    const form = async (question: FormQuestion) => {
      expect((open += 1)).toBe(1);
      asked.push(question);
      await new Promise(setImmediate);
      open -= 1;
      return { action: 'accept', content: { text: question.message } } as const;
    };
    const result = await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(result.content).toEqual([{ type: 'text', text: '1 One? Two?' }]);
    expect(asked.map(({ message }) => message)).toEqual(['One?', 'Two?']);
  });

  it('a server that was written by hand', async () => {
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, (ctx) => {
        const answer = acceptedContent<{ text: string }>(ctx.mcpReq.inputResponses, 'q');
        if (answer !== undefined) return { content: [{ type: 'text', text: answer.text }] };
        const requestedSchema = { type: 'object', properties: { text: { type: 'string' } } } as const;
        return inputRequired({
          inputRequests: { q: inputRequired.elicit({ message: 'Name?', requestedSchema }) },
        });
      });
    });
    expect((await drive(client, CALL, optionsWith())).content).toEqual([{ type: 'text', text: 'x' }]);
  });

  it('prompts and resources', async () => {
    const { client } = await connect2025((_mcp, flows) => {
      flows.registerPrompt('p', {}, async (flow) => {
        const { text } = await flow.form('q', { message: 'Name?', schema });
        return { messages: [{ role: 'user', content: { type: 'text', text } }] };
      });
      flows.registerResource('r', 'test://r', {}, async (uri, flow) => {
        const { text } = await flow.form('q', { message: 'Name?', schema });
        return { contents: [{ uri: uri.href, text }] };
      });
    });
    const prompt = await drive(client, { method: 'prompts/get', params: { name: 'p' } }, optionsWith());
    expect(prompt.messages).toHaveLength(1);
    const read = await drive(
      client,
      { method: 'resources/read', params: { uri: 'test://r' } },
      optionsWith(),
    );
    expect(read.contents).toMatchObject([{ text: 'x' }]);
  });

  it('a wrong answer does not leave, and the call fails with the reason', async () => {
    const { client } = await connect2025(twoForms);
    const form = () => ({ action: 'accept', content: { text: 4_242_424 } }) as const;
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    expect(failure).toMatchObject({ code: 'answer_refused' });
  });

  it('two calls at once wait for each other, so that no answer goes to the wrong one', async () => {
    const { client } = await connect2025(twoForms);
    const calls = [1, 2, 3].map((a) => {
      const form = () => ({ action: 'accept', content: { text: `for ${a}` } }) as const;
      const request = { method: 'tools/call', params: { name: 't', arguments: { a } } } as const;
      return drive(client, request, optionsWith({ handlers: { form } }));
    });
    const texts = (await Promise.all(calls)).map(({ content }) => content[0]);
    expect(texts).toMatchObject([1, 2, 3].map((a) => ({ text: `${a} for ${a} for ${a}` })));
  });

  it('one that fails does not keep the next from its turn, and leaves no handler behind', async () => {
    const { client } = await connect2025(twoForms);
    const form = () => Promise.reject(new Error('no'));
    const failing = failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    const working = drive(client, CALL, optionsWith());
    expect(await failing).toMatchObject({ code: 'unanswered' });
    expect((await working).content).toMatchObject([{ text: '1 x x' }]);
    expect(() => client.assertCanSetRequestHandler('elicitation/create')).not.toThrow();
  });

  it('refuses a client that has handlers of its own', async () => {
    const { client } = await connect2025(twoForms);
    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: 'configuration' });
  });

  it('the same asked three times is given up', async () => {
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        for (;;) {
          await ctx.mcpReq.elicitInput({
            message: 'Again?',
            requestedSchema: { type: 'object', properties: { text: { type: 'string' } } },
          });
        }
      });
    });
    const asked: FormQuestion[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toMatchObject({ code: 'going_nowhere', keys: ['elicitation/create'], times: 3 });
    // It has no key, and its running number would say nothing.
    expect(failure.message).toBe('The server asked the same 3 times in a row: "elicitation/create".');
    expect(asked).toHaveLength(2);
  });

  it('the time-out stands still while somebody is asked', async () => {
    const clock = testClock();
    const { client } = await connect2025(twoForms);
    const form = async () => {
      clock.advance(3_600_000);
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    expect((await drive(client, CALL, optionsWith({ handlers: { form }, clock }))).content).toHaveLength(1);
    const { client: slow } = await connect2025((_mcp, flows) => {
      flows.registerTool('t', {}, () => {
        setImmediate(() => clock.advance(60_000));
        return new Promise(() => undefined);
      });
    });
    expect(await failureOf(drive(slow, CALL, optionsWith({ clock })))).toMatchObject({
      bound: 'timeout',
      limit: 60_000,
    });
  });

  it('a saved call is not continued there, and nobody is asked', async () => {
    const { client } = await connect2025(twoForms);
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    expect(await failureOf(stepper.next(FLOW))).toMatchObject({ code: 'configuration' });
    const asked: FormQuestion[] = [];
    const options = optionsWith({ handlers: filling(asked) });
    expect(await failureOf(resume(client, FLOW, options))).toMatchObject({ code: 'configuration' });
    expect(asked).toHaveLength(0);
  });
});
