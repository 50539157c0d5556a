import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { drive, flowOf, resume, RetryNotTaken, RetryUnknown } from '../../src/client/index.js';
import { CALL, failureOf, optionsWith, printed } from './harness.js';
import { live } from './servers/life.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe('a server process that is killed', () => {
  const yes = { form: () => ({ action: 'accept', content: { confirm: true } }) as const };

  async function connectTo(port: number) {
    const url = `http://127.0.0.1:${port}/mcp`;
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
    );
    // Without it, a retry may go out on a connection of which nobody knows yet that its other end has died.
    const requestInit = { headers: { connection: 'close' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    cleanups.push(() => client.close());
    return { client, options: optionsWith({ server: { url }, handlers: yes }) };
  }

  it('while somebody is asked, and comes back: the call goes on as if nothing had been', async () => {
    const first = await live();
    cleanups.push(() => first.kill());
    const { client, options } = await connectTo(first.port);
    const form = async () => {
      await first.kill();
      const second = await live({ port: first.port });
      cleanups.push(() => second.kill());
      return yes.form();
    };
    const result = await drive(client, CALL, { ...options, handlers: { form } });
    expect(result.content).toEqual([{ type: 'text', text: 'true' }]);
  });

  it('while it works on a retry, and comes back: of unknown outcome, until told to send it again', async () => {
    const first = await live({ hangs: true });
    cleanups.push(() => first.kill());
    const { client, options } = await connectTo(first.port);
    const driven = failureOf(drive(client, CALL, options));
    await first.isWorking;
    await first.kill();
    const failure = await driven;
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(printed(failure)).not.toContain(flowOf(failure)?.requestState);

    const second = await live({ port: first.port });
    cleanups.push(() => second.kill());
    expect(await failureOf(resume(client, flowOf(failure), options))).toBeInstanceOf(RetryUnknown);
    const result = await resume(client, flowOf(failure), { ...options, resend: true });
    expect(result).toMatchObject({ content: [{ text: 'true' }] });
  });

  it('while somebody is asked, and stays away: nothing was sent, and what was saved outlives it', async () => {
    const first = await live();
    cleanups.push(() => first.kill());
    const { client, options } = await connectTo(first.port);
    const form = async () => {
      await first.kill();
      return yes.form();
    };
    const failure = await failureOf(drive(client, CALL, { ...options, handlers: { form } }));
    expect(failure).toBeInstanceOf(RetryNotTaken);
    expect(flowOf(failure)).toMatchObject({ round: 1, questions: [{ key: 'go' }] });
    expect(flowOf(failure)).not.toHaveProperty('sentAt');

    const second = await live({ port: first.port });
    cleanups.push(() => second.kill());
    expect(await resume(client, flowOf(failure), options)).toMatchObject({ content: [{ text: 'true' }] });
  });
});
