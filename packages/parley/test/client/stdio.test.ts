import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drive, resume, type FormQuestion } from '../../src/client/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { CALL, failureOf, optionsWith } from './harness.js';
import { cleanUp, gate } from './legacy-harness.js';
import { memoryStore } from './stores.js';

const SERVER = fileURLToPath(new URL('servers/on-stdio.ts', import.meta.url));

/** A client on a server process of its own. */
async function start(mode: 'modern' | 'legacy' = 'modern') {
  const client = new Client(
    { name: 'test', version: '1' },
    mode === 'legacy'
      ? { capabilities: { elicitation: { form: {} } } }
      : { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', SERVER],
    env: { PARLEY_KEYS: TEST_KEY },
  });
  await client.connect(transport);
  cleanUp(() => client.close());
  return { client, pid: transport.pid ?? 0 };
}

/** Ends a server as a crash does, and waits until its client has noticed. */
async function kill({ client, pid }: { client: Client; pid: number }): Promise<void> {
  const noticed = gate();
  Object.assign(client, { onclose: noticed.open });
  process.kill(pid, 'SIGKILL');
  await noticed.opened;
}

const options = optionsWith({ server: { command: process.execPath, args: [SERVER] } });

const saying = (asked: string[]) => ({
  form: ({ message }: FormQuestion) => {
    asked.push(message);
    return { action: 'accept', content: { text: message } } as const;
  },
});

describe('over stdio', () => {
  it.each(['modern', 'legacy'] as const)('a %s server is driven as over HTTP (TRAN-13)', async (mode) => {
    const { client, pid } = await start(mode);
    const asked: string[] = [];
    const result = await drive(
      client,
      { method: 'tools/call', params: { name: 't' } },
      {
        ...options,
        handlers: saying(asked),
      },
    );
    expect(result.content).toEqual([{ type: 'text', text: `First? Second? in ${pid}` }]);
    expect(asked).toEqual(['First?', 'Second?']);
  });

  it('a server that crashes in the middle of a call: a new process goes on with the same round (TRAN-11)', async () => {
    const first = await start();
    const asked: string[] = [];
    const form = async (question: FormQuestion) => {
      if (question.message === 'Second?') await kill(first);
      return saying(asked).form(question);
    };
    const store = memoryStore();
    await failureOf(drive(first.client, CALL, { ...options, handlers: { form }, store }));
    const flow = await store.load();
    expect(flow).toMatchObject({ round: 2, questions: [{ key: 'second' }] });

    const second = await start();
    expect(second.pid).not.toBe(first.pid);
    // With no connection the retry never left, so nobody has to decide whether to send it again.
    const result = await resume(second.client, flow, { ...options, handlers: saying(asked), store });
    expect(result).toMatchObject({ content: [{ text: `First? Second? in ${second.pid}` }] });
    expect(asked).toEqual(['First?', 'Second?', 'Second?']);
  });
});
