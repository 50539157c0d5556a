import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { drive, flowOf, InvalidResponse, RetryNotTaken } from '../../src/client/index.js';
import { connect2025 } from './legacy-harness.js';
import {
  CALL,
  connect,
  connectTo,
  done,
  failureOf,
  interim,
  optionsWith,
  textForm,
  type Script,
} from './harness.js';
import { completed, made, methods, text } from './task-script.js';

/** A tool whose results are numbers; what the script says, it says. */
function counting(mcp: McpServer): void {
  mcp.registerTool('t', { outputSchema: z.object({ n: z.int() }) }, () => ({
    content: [],
    structuredContent: { n: 1 },
  }));
}

const asks = () => interim({ inputRequests: { q: textForm() }, requestState: 'state-1' });
const fits = () => ({ ...done(), structuredContent: { n: 1 } });
const misfits = () => ({ ...done(), structuredContent: { n: 'x' } });

/** The client checks against the schema as soon as it has listed the tools. */
async function listed(script: Script) {
  const connection = await connect((_flows, mcp) => counting(mcp), script);
  await connection.client.listTools();
  return connection;
}

describe('a tool with an output schema that the client knows', () => {
  it('is driven: what it asks is not checked against the schema of its results', async () => {
    const { client, sent } = await connect((flows) => {
      flows.registerTool(
        't',
        { inputSchema: z.object({ a: z.int() }), outputSchema: z.object({ n: z.int() }) },
        async ({ a }, flow) => {
          await flow.form('q', { message: 'Name?', schema: z.object({ text: z.string() }) });
          return { content: [], structuredContent: { n: a } };
        },
      );
    });
    await client.listTools();
    expect((await drive(client, CALL, optionsWith())).structuredContent).toEqual({ n: 1 });
    expect(sent).toHaveLength(2);
  });

  it('may ask in each round, and only wait', async () => {
    const { client, sent } = await listed((_request, nth) => {
      if (nth === 1) return asks();
      return nth === 2 ? interim({ requestState: 'state-2' }) : fits();
    });
    await drive(client, CALL, optionsWith());
    expect(sent.map(({ params }) => params.requestState)).toEqual([undefined, 'state-1', 'state-2']);
  });

  it('may become a task', async () => {
    const { client, sent } = await listed(({ method }) =>
      method === 'tools/call' ? made({ structuredContent: { n: 'x' } }) : completed(),
    );
    expect(await drive(client, CALL, optionsWith())).toMatchObject(text('done'));
    expect(methods(sent)).toEqual(['tools/call', 'get']);
  });

  it.each([
    ['a result that does not fit', misfits],
    ['a result without what the schema is of', () => done()],
  ])('%s is no error that the server answered with (CORE-28, METH-25)', async (_, result) => {
    for (const rounds of [1, 2]) {
      const { client, sent } = await listed((_request, nth) => (nth < rounds ? asks() : result()));
      const failure = await failureOf(drive(client, CALL, optionsWith()));
      expect(failure).toBeInstanceOf(InvalidResponse);
      expect(failure.message).toContain('output schema');
      // The tool did its work: there is nothing to go on with.
      expect(flowOf(failure)).toBeUndefined();
      expect(sent).toHaveLength(rounds);
    }
  });

  it('nor is it on a connection of 2025-11-25', async () => {
    const { client } = await connect2025((mcp) => {
      counting(mcp);
      mcp.server.setRequestHandler('tools/call', () => ({ content: [], structuredContent: { n: 'x' } }));
    });
    await client.listTools();
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: 'invalid_response' });
  });

  it('an interim result that asks nothing and has no state is none, with a schema or without', async () => {
    const { client } = await listed(() => interim({ inputRequests: {} }));
    expect(await failureOf(drive(client, CALL, optionsWith()))).toBeInstanceOf(InvalidResponse);
  });

  it('a schema that no validator takes keeps a retry from leaving, and that is known', async () => {
    const outputSchema = { type: 'object' as const, $ref: 'x:y' };
    const { client, sent } = await connectTo(
      () => {
        const mcp = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
        const tool = { name: 't', inputSchema: { type: 'object' as const }, outputSchema };
        mcp.server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
        return mcp;
      },
      () => asks(),
    );
    const form = async () => {
      await client.listTools();
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })));
    expect(failure).toBeInstanceOf(RetryNotTaken);
    expect(flowOf(failure)).toMatchObject({ round: 1, requestState: 'state-1' });
    expect(sent).toHaveLength(1);
  });
});
