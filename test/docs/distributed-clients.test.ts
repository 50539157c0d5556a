import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  drive,
  resume,
  RetryUnknown,
  SavedFlowOutdated,
  Unanswered,
  type FlowStore,
} from '../../packages/parley/src/client/index.js';
import {
  CALL,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  scripted,
  textForm,
  type Connection,
} from '../../packages/parley/test/client/harness.js';
import { service } from '../services/use.js';
import { load } from './load.js';
import { pages } from './markdown.js';

interface PendingFlow extends FlowStore {
  end(result: string): Promise<void>;
}

const url = await service('postgres');

describe.skipIf(url === undefined)('the row of docs/distributed-clients.md', async () => {
  const page = pages().find(({ file }) => file === 'docs/distributed-clients.md');
  const code = page?.blocks.find((block) => block.code.includes('class PendingFlow'))?.code ?? '';
  const sql = [...(page?.text ?? '').matchAll(/```sql\n(.*?)```/gs)].map(([, text = '']) => text);
  const [create = '', lists = ''] = sql;
  const [waiting = '', unclear = '', unwritten = ''] = lists.split(';');
  const { PendingFlow } = (await load('pending-flow.ts', code)) as {
    PendingFlow: new (db: Pool, id: string) => PendingFlow;
  };

  const schema = `distributed_${process.pid}`;
  const db = new Pool({ connectionString: url, max: 10, options: `-c search_path=${schema}` });
  beforeAll(() => db.query(`CREATE SCHEMA ${schema}`));
  beforeEach(() => db.query(`DROP TABLE IF EXISTS pending_flow; ${create}`));
  afterAll(async () => {
    await db.query(`DROP SCHEMA ${schema} CASCADE`);
    await db.end();
  });

  const idsOf = async (query: string): Promise<unknown[]> =>
    (await db.query<{ id: string }>(query)).rows.map(({ id }) => id);

  /** The call, as each process sees it. */
  const row = (): PendingFlow => new PendingFlow(db, 'a');

  /** A call that waits, on a server that answers its retry with this. */
  async function leave(second: () => unknown): Promise<Connection> {
    const connection = await scripted((_, nth) =>
      nth > 1 ? second() : interim({ inputRequests: { q: textForm() }, requestState: 'a \u0000 state' }),
    );
    const form = () => Promise.reject(new Error('later'));
    const options = optionsWith({ store: row(), handlers: { form } });
    expect(await failureOf(drive(connection.client, CALL, options))).toBeInstanceOf(Unanswered);
    return connection;
  }

  it('carries a call from the asker to the answerer, and ends with its result', async () => {
    const { client, sent } = await leave(() => done());
    expect([await idsOf(waiting), await idsOf(unclear)]).toEqual([['a'], []]);
    const store = row();
    await resume(client, await store.load(), optionsWith({ store, handlers: filling() }));
    expect(sent[1]?.params.requestState).toBe('a \u0000 state');
    expect([await idsOf(waiting), await idsOf(unwritten)]).toEqual([[], ['a']]);
    await store.end('paid');
    expect((await db.query('SELECT flow, revision, sent_at, result FROM pending_flow')).rows).toEqual([
      { flow: null, revision: null, sent_at: null, result: 'paid' },
    ]);
    expect([await idsOf(waiting), await idsOf(unclear), await idsOf(unwritten)]).toEqual([[], [], []]);
  });

  it('lets one of many send, who all answer at the same time', async () => {
    const { client, sent } = await leave(() => done());
    const seen = await row().load();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        resume(client, seen, optionsWith({ store: row(), handlers: filling() })),
      ),
    );
    expect(sent).toHaveLength(2);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(SavedFlowOutdated);
    }
  });

  it('lets nobody send who comes back to a call that others have ended', async () => {
    const { client, sent } = await leave(() => done());
    const slow = row();
    const seen = await slow.load();
    const store = row();
    await resume(client, await store.load(), optionsWith({ store, handlers: filling() }));
    const late = failureOf(resume(client, seen, optionsWith({ store: slow, handlers: filling() })));
    expect(await late).toBeInstanceOf(SavedFlowOutdated);
    expect(sent).toHaveLength(2);
  });

  it('is not begun a second time', async () => {
    const { client, sent } = await leave(() => done());
    const again = optionsWith({ store: row(), handlers: filling() });
    expect(await failureOf(drive(client, CALL, again))).toMatchObject({ code: 'configuration' });
    expect(sent).toHaveLength(1);
  });

  it('is unclear after a retry without an answer, and one of two settles it', async () => {
    const { client } = await leave(() => new Response('', { status: 500 }));
    const store = row();
    const options = optionsWith({ store, handlers: filling() });
    const resumed = resume(client, await store.load(), options);
    expect(await failureOf(resumed)).toBeInstanceOf(RetryUnknown);
    await db.query(`UPDATE pending_flow SET sent_at = sent_at - interval '1 hour'`);
    expect([await idsOf(waiting), await idsOf(unclear)]).toEqual([[], ['a']]);
    expect(await failureOf(resume(client, await store.load(), options))).toBeInstanceOf(RetryUnknown);
    const saved = await store.load();
    await store.clear(saved);
    await store.end('It was paid.');
    expect(await failureOf(row().clear(saved))).toBeInstanceOf(SavedFlowOutdated);
    expect(await idsOf(unclear)).toEqual([]);
  });

  it('waits again after a retry that was not taken up', async () => {
    const { client } = await leave(() => new Response('', { status: 403 }));
    const store = row();
    await failureOf(resume(client, await store.load(), optionsWith({ store, handlers: filling() })));
    expect([await idsOf(waiting), await idsOf(unclear)]).toEqual([['a'], []]);
  });
});
