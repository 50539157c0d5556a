import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  drive,
  type Answers,
  type AskContext,
  type FormQuestion,
  type Handlers,
  type SamplingQuestion,
} from '../../src/client/index.js';
import { CALL, done, failureOf, interim, optionsWith, scripted, textForm, type Sent } from './harness.js';
import { connect2025, TEXT } from './legacy-harness.js';

const FILLED: Answers['form'] = { action: 'accept', content: { text: 'x' } };

const asksOnce = (question: unknown = textForm()) =>
  scripted((_request, nth) =>
    nth === 1 ? interim({ inputRequests: { q: question }, requestState: 'state-1' }) : done(),
  );

const SAMPLING = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } };

const declaredIn = (request: Sent | undefined) =>
  request?.params._meta?.['io.modelcontextprotocol/clientCapabilities'];

describe('handlers', () => {
  it('may be methods of an object, and keep their `this`', async () => {
    class Terminal implements Handlers {
      readonly #answer = FILLED;
      form(): Answers['form'] {
        return this.#answer;
      }
    }
    const { client, sent } = await asksOnce();
    await drive(client, CALL, optionsWith({ handlers: new Terminal() }));
    expect(sent[1]?.params.inputResponses).toEqual({ q: FILLED });
    expect(declaredIn(sent[0])).toMatchObject({ elicitation: { form: {} } });
  });

  it('cannot change the question that their answer is checked against', async () => {
    const requestedSchema = { type: 'object', properties: { text: { type: 'string', enum: ['eu'] } } };
    const form = ({ schema }: FormQuestion): Answers['form'] => {
      // As a form library may that adds "other" to a list.
      const { text } = schema.properties;
      if (text?.type === 'string') (text.enum as string[]).push('mars');
      return { action: 'accept', content: { text: 'mars' } };
    };
    const { client, sent } = await asksOnce({
      method: 'elicitation/create',
      params: { message: 'Region?', requestedSchema },
    });
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    expect(failure).toMatchObject({ code: 'answer_refused' });
    expect(sent).toHaveLength(1);

    const old = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        await ctx.mcpReq.elicitInput({ message: 'Region?', requestedSchema } as never);
        return { content: [] };
      });
    });
    expect(await failureOf(drive(old.client, CALL, optionsWith({ handlers: { form } })))).toMatchObject({
      code: 'answer_refused',
    });
  });

  it('get a form where the mode is left out (FORM-06)', async () => {
    const { client } = await asksOnce({
      method: 'elicitation/create',
      params: { message: 'Name?', requestedSchema: TEXT },
    });
    const kinds: string[] = [];
    const form = ({ kind }: FormQuestion) => {
      kinds.push(kind);
      return FILLED;
    };
    await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(kinds).toEqual(['form']);
  });

  it('of a client of 2025-11-25 that declared `elicitation: {}` are asked forms, and no URLs (FORM-02)', async () => {
    const { client } = await connect2025(
      (mcp) => {
        mcp.registerTool('t', {}, async (ctx) => {
          const form = await ctx.mcpReq.elicitInput({ message: 'Name?', requestedSchema: TEXT });
          const params = {
            mode: 'url',
            message: 'Go',
            url: 'https://a.example/',
            elicitationId: 'e',
          } as const;
          // The server's own check knows that it must not. Written past it, the client says so.
          const url = await ctx.mcpReq
            .send({ method: 'elicitation/create', params })
            .catch((error: unknown) => String(error));
          return { content: [{ type: 'text', text: `${form.action}; ${JSON.stringify(url)}` }] };
        });
      },
      { elicitation: {} },
    );
    let opened = 0;
    const handlers: Handlers = {
      form: () => FILLED,
      url: () => {
        opened += 1;
        return { action: 'accept' };
      },
    };
    const result = await drive(client, CALL, optionsWith({ handlers }));
    expect(result.content).toMatchObject([
      { text: expect.stringMatching(/^accept; .*not support URL-mode/) },
    ]);
    expect(opened).toBe(0);
  });
});

describe('a handler for sampling', () => {
  const written: Answers['sampling'] = {
    action: 'accept',
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
  };
  const withTools = { ...SAMPLING, params: { ...SAMPLING.params, tools: [] } };
  const withChoice = { ...SAMPLING, params: { ...SAMPLING.params, toolChoice: { mode: 'auto' } } };

  async function model(question: unknown, capabilities: ClientCapabilities = {}) {
    const { client, sent } = await asksOnce(question);
    const asked: SamplingQuestion[] = [];
    const sampling = (given: SamplingQuestion) => {
      asked.push(given);
      return written;
    };
    const call = drive(client, CALL, optionsWith({ handlers: { sampling }, capabilities }));
    return { call, sent, asked };
  }

  it('that refuses ends the call, and nothing is sent (MRTR-C-13, SAMP-22)', async () => {
    for (const sampling of [
      () => ({ action: 'decline' }) as const,
      () => ({ action: 'cancel' }) as const,
      () => Promise.reject(new Error('no model')),
    ]) {
      const { client, sent } = await asksOnce(SAMPLING);
      const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { sampling } })));
      expect(failure).toMatchObject({ code: 'unanswered', key: 'q' });
      expect(sent).toHaveLength(1);
    }
  });

  it.each([
    ['tools', withTools],
    ['toolChoice', withChoice],
  ])(
    'is not asked with %s that were not declared: no model is called, nothing is sent (SAMP-05)',
    async (_, question) => {
      const { call, sent, asked } = await model(question);
      expect(await failureOf(call)).toMatchObject({ code: 'invalid_response' });
      expect(asked).toHaveLength(0);
      expect(sent).toHaveLength(1);
    },
  );

  it('is asked with tools where the host declares them, with each request (SAMP-03)', async () => {
    const { call, sent, asked } = await model(withTools, { sampling: { tools: {} } });
    await call;
    expect(asked).toMatchObject([{ kind: 'sampling', params: { tools: [] } }]);
    const declared = { sampling: { tools: {} } };
    expect(sent.map(declaredIn)).toMatchObject([declared, declared]);
  });
});

describe('what a handler does in the meantime on the same client', () => {
  it('carries neither answers nor state of the call that it is asked for (MRTR-C-08)', async () => {
    const { client, sent } = await scripted(({ params }, nth) =>
      params['name'] === 't' && nth === 1
        ? interim({ inputRequests: { q: textForm() }, requestState: 'state-of-t' })
        : done(),
    );
    const form = async (_: FormQuestion, { request }: AskContext) => {
      await client.callTool({ name: 'other' });
      await drive(client, { method: 'tools/call', params: { name: 'another' } }, optionsWith());
      expect(request).toEqual(CALL);
      return FILLED;
    };
    await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(sent.map(({ params }) => [params['name'], params.requestState, params.inputResponses])).toEqual([
      ['t', undefined, undefined],
      ['other', undefined, undefined],
      ['another', undefined, undefined],
      ['t', 'state-of-t', { q: FILLED }],
    ]);
  });
});
