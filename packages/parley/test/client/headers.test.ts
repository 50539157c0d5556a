import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { drive } from '../../src/client/index.js';
import { connect, done, interim, optionsWith, textForm, type Script } from './harness.js';
import { methodsOf } from './outgoing.js';
import { asks, completed, made, TASK_ID } from './task-script.js';

/** A tool that wants one of its arguments in a header. */
function annotated(mcp: McpServer): void {
  const inputSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), size: z.number() });
  mcp.registerTool('t', { inputSchema }, () => ({ content: [] }));
}

const CALL_EU = {
  method: 'tools/call',
  params: { name: 't', arguments: { region: 'eu', size: 3 } },
} as const;

async function headersOf(script: Script) {
  const { client, sent } = await connect((_flows, mcp) => annotated(mcp), script);
  // What a tool wants is known from the list of tools.
  await client.listTools();
  await drive(client, CALL_EU, optionsWith());
  return sent.map(({ headers }) =>
    ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-param-region'].map((name) => headers.get(name)),
  );
}

describe('headers of a driven call', () => {
  it('all of them, with each round (MRTR-C-11)', async () => {
    const headers = await headersOf((_request, nth) =>
      nth > 2 ? done() : interim({ inputRequests: { q: textForm(`${nth}`) }, requestState: 's' }),
    );
    const all = ['2026-07-28', 'tools/call', 't', 'eu'];
    expect(headers).toEqual([all, all, all]);
  });

  it('never hold its answers or its state (METH-20)', async () => {
    const { client, sent } = await connect(
      (_flows, mcp) => annotated(mcp),
      (_request, nth) =>
        nth > 1 ? done() : interim({ inputRequests: { q: textForm() }, requestState: 'state-of-round-1' }),
    );
    await client.listTools();
    const form = () => ({ action: 'accept', content: { text: 'my-answer' } }) as const;
    await drive(client, CALL_EU, optionsWith({ handlers: { form } }));
    const retry = sent[1];
    expect(JSON.stringify(retry?.params)).toMatch(/state-of-round-1.*my-answer|my-answer.*state-of-round-1/);
    expect(JSON.stringify([...(retry?.headers ?? [])])).not.toMatch(/state|answer/);
  });

  it('leave out an argument that is not there (METH-16)', async () => {
    const inputSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }).optional() });
    const { client, sent } = await connect(
      (_flows, mcp) => void mcp.registerTool('t', { inputSchema }, () => ({ content: [] })),
      (_request, nth) =>
        nth > 1 ? done() : interim({ inputRequests: { q: textForm() }, requestState: 's' }),
    );
    await client.listTools();
    await drive(client, { method: 'tools/call', params: { name: 't' } }, optionsWith());
    expect(sent.map(({ headers }) => headers.get('mcp-param-region'))).toEqual([null, null]);
  });

  it('that do not fit any more are looked up anew, and the same round is sent again (METH-19)', async () => {
    const mismatch = { code: -32_020, message: 'Header mismatch' };
    const { client, sent } = await connect(
      (_flows, mcp) => annotated(mcp),
      (_request, nth) => {
        if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 's' });
        return nth === 2 ? mismatch : done();
      },
    );
    const methods = methodsOf(client);
    await drive(client, CALL_EU, optionsWith());
    expect(methods).toEqual(['tools/call', 'tools/call', 'tools/list', 'tools/call']);
    const rounds = sent.map(({ params }) => [
      params.requestState,
      params.inputResponses,
      params['arguments'],
    ]);
    expect(rounds[2]).toEqual(rounds[1]);
    expect(sent.map(({ headers }) => headers.get('mcp-param-region'))).toEqual([null, null, 'eu']);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
  });

  it('of what is asked about its task: the id, and no argument (INC-17)', async () => {
    const headers = await headersOf(({ method }, nth) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/update') return { resultType: 'complete' };
      return nth === 2 ? asks({ q: textForm() }) : completed();
    });
    const about = (method: string) => ['2026-07-28', method, TASK_ID, null];
    expect(headers).toEqual([
      ['2026-07-28', 'tools/call', 't', 'eu'],
      about('tasks/get'),
      about('tasks/update'),
      about('tasks/get'),
    ]);
  });
});
