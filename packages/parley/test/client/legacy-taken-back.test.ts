import { describe, expect, it } from 'vitest';
import { drive, type Answers, type AskContext, type FormQuestion } from '../../src/client/index.js';
import { CALL, optionsWith } from './harness.js';
import { connect2025, gate, TEXT } from './legacy-harness.js';

const FILLED: Answers['form'] = { action: 'accept', content: { text: 'x' } };

/** A server that takes its first question back, and then asks a second one. */
async function takingBack(isShown: Promise<void>) {
  return connect2025((mcp) => {
    mcp.registerTool('t', {}, async (ctx) => {
      const taking = new AbortController();
      const first = ctx.mcpReq
        .elicitInput({ message: 'First?', requestedSchema: TEXT }, { signal: taking.signal })
        .catch(() => undefined);
      const second = ctx.mcpReq.elicitInput({ message: 'Second?', requestedSchema: TEXT });
      await isShown;
      taking.abort();
      const actions = [(await first)?.action, (await second).action];
      return { content: [{ type: 'text', text: actions.join(' ') }] };
    });
  });
}

describe('a question that a server of 2025-11-25 takes back (notifications/cancelled)', () => {
  it('leaves the screen, and the next one is asked', async () => {
    const shown = gate();
    const { client } = await takingBack(shown.opened);
    const asked: string[] = [];
    let isGone = false;
    const form = ({ message }: FormQuestion, { signal }: AskContext): Answers['form'] | Promise<never> => {
      asked.push(message);
      if (message === 'Second?') return FILLED;
      shown.open();
      // Somebody who is away from the desk.
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          isGone = true;
          reject(new Error('gone'));
        });
      });
    };
    const result = await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(asked).toEqual(['First?', 'Second?']);
    expect(isGone).toBe(true);
    expect(result.content).toMatchObject([{ text: ' accept' }]);
  });

  it('does not hold up the next one, even if its handler never settles', async () => {
    const shown = gate();
    const { client } = await takingBack(shown.opened);
    const form = ({ message }: FormQuestion): Answers['form'] | Promise<never> => {
      if (message === 'Second?') return FILLED;
      shown.open();
      return new Promise(() => undefined);
    };
    const result = await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(result.content).toMatchObject([{ text: ' accept' }]);
  });

  it('is not asked at all, and is no round, when it was still waiting for its turn', async () => {
    const shown = gate();
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        const taking = new AbortController();
        const first = ctx.mcpReq.elicitInput({ message: 'First?', requestedSchema: TEXT });
        const second = ctx.mcpReq
          .elicitInput({ message: 'Second?', requestedSchema: TEXT }, { signal: taking.signal })
          .catch(() => undefined);
        await shown.opened;
        taking.abort();
        await second;
        answer.open();
        const third = ctx.mcpReq.elicitInput({ message: 'Third?', requestedSchema: TEXT });
        return { content: [{ type: 'text', text: `${(await first).action} ${(await third).action}` }] };
      });
    });
    const answer = gate();
    const asked: string[] = [];
    const form = async ({ key, message }: FormQuestion): Promise<Answers['form']> => {
      asked.push(`${key} ${message}`);
      shown.open();
      await answer.opened;
      return FILLED;
    };
    const result = await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(result.content).toMatchObject([{ text: 'accept accept' }]);
    expect(asked).toEqual(['1 First?', '2 Third?']);
  });

  it('sends no answer that came too late', async () => {
    const shown = gate();
    const { client, received } = await takingBack(shown.opened);
    const [second, late] = [gate(), gate()];
    const form = async ({ message }: FormQuestion): Promise<Answers['form']> => {
      if (message === 'Second?') {
        second.open();
        await late.opened;
        return FILLED;
      }
      shown.open();
      await second.opened;
      late.open();
      return { action: 'accept', content: { text: 'late' } };
    };
    await drive(client, CALL, optionsWith({ handlers: { form } }));
    expect(JSON.stringify(received)).not.toContain('late');
  });
});
