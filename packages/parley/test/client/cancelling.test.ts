import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { drive, flowOf, RetryUnknown, type DriveOptions } from '../../src/client/index.js';
import { CALL, failureOf, interim, optionsWith, scripted, textForm } from './harness.js';
import { cleanUp, gate, TEXT } from './legacy-harness.js';
import { connectPipes } from './servers/pipes.js';

/** A server that asks, and never gets done with the answer, until its tool is cancelled. */
async function hanging() {
  const [hangs, hungUp] = [gate(), gate()];
  const piped = await connectPipes(() => {
    const mcp = new McpServer({ name: 'hanging', version: '1.0.0' });
    mcp.registerTool('t', {}, (ctx) => {
      if (acceptedContent(ctx.mcpReq.inputResponses, 'q') === undefined) {
        const question = inputRequired.elicit({ message: 'Name?', requestedSchema: TEXT });
        return inputRequired({ inputRequests: { q: question } });
      }
      ctx.mcpReq.signal.addEventListener('abort', hungUp.open);
      hangs.open();
      return new Promise(() => undefined);
    });
    return mcp;
  });
  return { ...piped, hangs: hangs.opened, hungUp: hungUp.opened };
}

const idsOf = (messages: readonly JSONRPCMessage[], method: string) =>
  messages.flatMap((message) =>
    'method' in message && message.method === method && 'id' in message ? [message.id] : [],
  );

const cancellations = (messages: readonly JSONRPCMessage[]) =>
  messages.flatMap((message) =>
    'method' in message && message.method === 'notifications/cancelled'
      ? [message.params?.['requestId']]
      : [],
  );

const withCommand = (options: Partial<DriveOptions> = {}) =>
  optionsWith({ server: { command: 'node' }, ...options });

describe('a retry that is cancelled', () => {
  it('is told to the server, by the id of that retry (TRAN-03)', async () => {
    const { client, written, hangs, hungUp } = await hanging();
    const controller = new AbortController();
    const call = failureOf(drive(client, CALL, withCommand({ signal: controller.signal })));
    await hangs;
    controller.abort();
    expect(await call).toBeInstanceOf(RetryUnknown);
    await hungUp;
    const [, retry] = idsOf(written(), 'tools/call');
    expect(cancellations(written())).toEqual([retry]);
  });

  it('and answered all the same: what comes late changes nothing (TRAN-05)', async () => {
    const { client, written, inject, hangs } = await hanging();
    const controller = new AbortController();
    const call = failureOf(drive(client, CALL, withCommand({ signal: controller.signal })));
    await hangs;
    controller.abort();
    const failure = await call;
    const [, retry] = idsOf(written(), 'tools/call');
    const errors: Error[] = [];
    Object.assign(client, { onerror: (error: Error) => void errors.push(error) });
    inject({ id: retry, result: { resultType: 'complete', content: [{ type: 'text', text: 'late' }] } });
    while (errors.length === 0) await new Promise(setImmediate);
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(flowOf(failure)?.sentAt).toBeTypeOf('number');
    expect(client.transport).toBeDefined();
    expect((await client.listTools()).tools).toHaveLength(1);
  });

  it('when the round was answered already: the server hears nothing (TRAN-04, TRAN-05)', async () => {
    const { client, written } = await hanging();
    const controller = new AbortController();
    const form = (): Promise<never> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const options = withCommand({ handlers: { form }, signal: controller.signal });
    expect(await failureOf(drive(client, CALL, options))).toMatchObject({ code: 'call_stopped' });
    await client.listTools();
    expect(cancellations(written())).toEqual([]);
  });
});

describe('a retry that is not answered in time', () => {
  const request = { timeout: 60_000 };

  it('is cancelled on pipes, and of unknown outcome (MRTR-C-14, TRAN-16)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanUp(() => vi.useRealTimers());
    const { client, written, hangs, hungUp } = await hanging();
    const call = failureOf(drive(client, CALL, withCommand({ request })));
    await hangs;
    vi.advanceTimersByTime(request.timeout);
    expect(await call).toBeInstanceOf(RetryUnknown);
    await hungUp;
    const [, retry] = idsOf(written(), 'tools/call');
    expect(cancellations(written())).toEqual([retry]);
  });

  it('is hung up on over HTTP, and of unknown outcome (MRTR-C-14, TRAN-16)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanUp(() => vi.useRealTimers());
    const [hangs, hungUp] = [gate(), gate()];
    const { client, sent } = await scripted((_request, nth, signal) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 's' });
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          hungUp.open();
          reject(new Error('hung up'));
        });
        hangs.open();
      });
    });
    const call = failureOf(drive(client, CALL, optionsWith({ request })));
    await hangs.opened;
    vi.advanceTimersByTime(request.timeout);
    expect(await call).toBeInstanceOf(RetryUnknown);
    await hungUp.opened;
    expect(sent).toHaveLength(2);
  });
});
