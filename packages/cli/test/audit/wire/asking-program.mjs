/** A program with a tool that asks once, and takes no state but the one that it gave. */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const given = new Set();
const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const question = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Sure?',
    requestedSchema: {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
    },
  },
};

function answer({ method, params }) {
  switch (method) {
    case 'server/discover':
      return { result: { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } };
    case 'tools/list':
      return { result: { ...complete, tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } };
    case 'tools/call':
      return call(params);
    default:
      return { error: { code: -32_601, message: 'No such method.' } };
  }
}

function call({ requestState, inputResponses }) {
  if (requestState === undefined) {
    const state = randomUUID();
    given.add(state);
    return {
      result: { resultType: 'input_required', inputRequests: { sure: question }, requestState: state },
    };
  }
  if (!given.has(requestState)) return { error: { code: -32_602, message: 'Invalid requestState' } };
  const text = inputResponses?.sure?.content?.ok === true ? 'Done.' : 'Not done.';
  return { result: { resultType: 'complete', content: [{ type: 'text', text }] } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...request } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer(request) })}\n`);
}
