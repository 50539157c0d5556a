import { inputRequired, acceptedContent } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { accept, instance, stateOf, textOf, type Instance } from './wire-harness.js';

/** A tool as one writes it with the SDK alone: its state is a plain text that the gate seals. */
function handWritten(seen: unknown[] = []): Instance {
  return instance((_flows, mcp) => {
    mcp.registerTool('book', {}, (ctx) => {
      const state = ctx.mcpReq.requestState<string>();
      seen.push(state, ctx.mcpReq.inputResponses);
      const seats = acceptedContent<{ seats: number }>(ctx.mcpReq.inputResponses, 'seats');
      if (state !== undefined && seats !== undefined) {
        return { content: [{ type: 'text', text: `${state} with ${seats.seats} seats` }] };
      }
      return inputRequired({
        inputRequests: {
          seats: inputRequired.elicit({
            message: 'How many seats?',
            requestedSchema: {
              type: 'object',
              properties: { seats: { type: 'integer' } },
              required: ['seats'],
            },
          }),
        },
        requestState: 'flight 7',
      });
    });
  });
}

describe('a handler written by hand with inputRequired()', () => {
  it('has its state sealed on the way out and gets the plain text back', async () => {
    const server = handWritten();
    const state = stateOf(await server.call('tools/call', 'book'));
    expect(state).toMatch(/^parley1\./);
    expect(Buffer.from(state.slice(8), 'base64url').toString('latin1')).not.toContain('flight');
    const answer = await server.call('tools/call', 'book', {
      requestState: state,
      inputResponses: { seats: accept({ seats: 2 }) },
    });
    expect(textOf(answer)).toBe('flight 7 with 2 seats');
  });

  it('is never run with a state that does not verify', async () => {
    const seen: unknown[] = [];
    const server = handWritten(seen);
    const answer = await server.call('tools/call', 'book', { requestState: 'flight 8', inputResponses: {} });
    expect(answer.error?.code).toBe(-32_602);
    expect(server.rejections).toEqual(['malformed']);
    expect(seen).toEqual([]);
  });

  it('sees only answers that it asked for, on a map without a prototype', async () => {
    const seen: unknown[] = [];
    const server = handWritten(seen);
    const requestState = stateOf(await server.call('tools/call', 'book'));
    const inputResponses: unknown = JSON.parse(
      '{"__proto__":{"seats":{"action":"accept"}},"junk":{"action":"accept"}}',
    );
    await server.call('tools/call', 'book', { requestState, inputResponses });
    expect(seen.at(-1)).toEqual(Object.create(null));
    expect(Object.getPrototypeOf(seen.at(-1))).toBeNull();
  });

  it('does not take the state of a flow, nor a flow its state', async () => {
    const flowServer = instance((flows) => {
      flows.registerTool('book', {}, async (flow) => ({
        content: [{ type: 'text', text: String(await flow.confirm('seats', 'Book?')) }],
      }));
    });
    const server = handWritten();
    const ofFlow = stateOf(await flowServer.call('tools/call', 'book'));
    const ofHand = stateOf(await server.call('tools/call', 'book'));
    await server.call('tools/call', 'book', { requestState: ofFlow });
    await flowServer.call('tools/call', 'book', { requestState: ofHand });
    expect(server.rejections).toEqual(['kind']);
    expect(flowServer.rejections).toEqual(['kind']);
  });

  it('may ask without a state; then none goes out, and answers come to it as they are', async () => {
    const server = instance((_flows, mcp) => {
      mcp.registerTool('ask', {}, (ctx) => {
        const ok = acceptedContent<{ ok: boolean }>(ctx.mcpReq.inputResponses, 'ok');
        return ok === undefined
          ? inputRequired({
              inputRequests: {
                ok: inputRequired.elicit({
                  message: 'Ok?',
                  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
                }),
              },
            })
          : { content: [{ type: 'text', text: String(ok.ok) }] };
      });
    });
    const asked = await server.call('tools/call', 'ask');
    expect(asked.result).not.toHaveProperty('requestState');
    const answer = await server.call('tools/call', 'ask', { inputResponses: { ok: accept({ ok: true }) } });
    expect(textOf(answer)).toBe('true');
  });
});
