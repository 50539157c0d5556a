import { ProtocolError, ResourceNotFoundError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { drive } from '../../src/client/index.js';
import {
  CALL,
  connect,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  scripted,
  textForm,
} from './harness.js';
import { connect2025 } from './legacy-harness.js';
import { methodsOf } from './outgoing.js';

const asking = { inputRequests: { q: textForm() }, requestState: 's' };

const ANSWERS = { q: { action: 'accept', content: { text: 'x' } } };

describe('an interim result', () => {
  it('may have members that nobody knows (CORE-06)', async () => {
    const more = { next: 'x', _meta: { 'example.com/a': 1 }, content: [{ type: 'text', text: 'not yet' }] };
    const { client, sent } = await scripted((_request, nth) =>
      nth === 1 ? interim({ ...asking, ...more }) : done(),
    );
    const result = await drive(client, CALL, optionsWith());
    expect(result.content).toMatchObject([{ text: 'done' }]);
    expect(sent[1]?.params).toMatchObject({ requestState: 's', inputResponses: ANSWERS });
    expect(sent[1]?.params).not.toHaveProperty('next');
  });

  it('may be one JSON object, or the last event of a stream (METH-09, TRAN-09)', async () => {
    const { client, sent } = await scripted(({ id }, nth) => {
      if (nth === 1) return interim(asking);
      const result = nth === 2 ? interim({ ...asking, requestState: 'of the stream' }) : done();
      const note = { method: 'notifications/message', params: { level: 'info', data: 'working' } };
      const events = [note, { id, result }].map(
        (message) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`,
      );
      return new Response(`: hello\n\n${events.join(': still here\n\n')}`, {
        headers: { 'Content-Type': 'text/event-stream' },
      });
    });
    const asked: never[] = [];
    const result = await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(result.content).toMatchObject([{ text: 'done' }]);
    expect(sent.map(({ params }) => params.requestState)).toEqual([undefined, 's', 'of the stream']);
    expect(asked).toHaveLength(2);
  });
});

describe('an error of the server', () => {
  const READ = { method: 'resources/read', params: { uri: 'test://gone' } } as const;

  it.each([-32_002, -32_602])('%i for a resource is "not found" (METH-05)', async (code) => {
    const gone = { code, message: 'gone', data: { uri: READ.params.uri } };
    const { client } = await connect(
      (flows) => flows.registerResource('r', 'test://r', {}, () => ({ contents: [] })),
      () => gone,
    );
    expect(await failureOf(drive(client, READ, optionsWith()))).toBeInstanceOf(ResourceNotFoundError);

    const old = await connect2025((mcp) => {
      mcp.registerResource('r', READ.params.uri, {}, () => {
        throw new ProtocolError(code, gone.message, gone.data);
      });
    });
    expect(await failureOf(drive(old.client, READ, optionsWith()))).toBeInstanceOf(ResourceNotFoundError);
  });

  it.each([-32_020, -32_021, -32_022])(
    '%i with HTTP 400 on a retry makes no connection of an earlier revision (META-14)',
    async (code) => {
      const { client } = await scripted(({ id }, nth) => {
        if (nth === 1) return interim(asking);
        const error = {
          code,
          message: 'no',
          data: { requiredCapabilities: {}, supported: [], requested: 'x' },
        };
        return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
      });
      const methods = methodsOf(client);
      const failure = await failureOf(drive(client, CALL, optionsWith()));
      const chain = [failure, failure.cause];
      expect(chain).toContainEqual(expect.objectContaining({ code }));
      expect(methods).not.toContain('initialize');
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    },
  );
});
