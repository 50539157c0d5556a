import { randomBytes } from 'node:crypto';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import type { Ledger, TransactionWork } from '../../src/index.js';
import { migrateLedger, postgresLedger } from '../../src/ledger/postgres.js';
import { redisLedger } from '../../src/ledger/redis.js';
import { accept, instance, stateOf, textOf, type Instance } from '../gate/wire-harness.js';
import { newTable, poolOf } from './postgres-table.js';

/** Whole flows on real stores: several instances that share nothing but keys and the store. */

const yes = { go: accept({ confirm: true }) };

function fleet(
  makeLedger: () => Ledger,
  work: (ledger: Ledger, flow: string) => () => unknown,
  id?: string,
): Instance[] {
  return [0, 1, 2, 3].map(() => {
    const ledger = makeLedger();
    return instance(
      (flows) => {
        flows.registerTool('redeem', {}, async (flow) => {
          await flow.confirm('go', 'Redeem?');
          const by = await flow.once(
            'redeem',
            work(ledger, flow.id) as () => string,
            id === undefined ? {} : { id },
          );
          return { content: [{ type: 'text', text: by === flow.id ? 'won' : 'lost' }] };
        });
      },
      { ledger, singleUse: true },
    );
  });
}

/** Every instance is asked at once for `times` flows, each of which is sent twice. */
async function rush(instances: Instance[], times: number): Promise<(string | undefined)[]> {
  const runs = Array.from({ length: times }, async (_, index) => {
    const [a, b] = [instances[index % 4] as Instance, instances[(index + 1) % 4] as Instance];
    const request = { requestState: stateOf(await a.call('tools/call', 'redeem')), inputResponses: yes };
    const answers = await Promise.all([
      a.call('tools/call', 'redeem', request),
      b.call('tools/call', 'redeem', request),
    ]);
    expect(new Set(answers.map(textOf)).size).toBe(1);
    return textOf(answers[0]);
  });
  return await Promise.all(runs);
}

const redisUrl = await service('redis');

describe.skipIf(redisUrl === undefined)('flows on Redis', () => {
  const client = createClient({ url: redisUrl ?? '', disableOfflineQueue: true });
  const prefix = `parley-flows-${randomBytes(6).toString('hex')}:`;
  beforeAll(async () => void (await client.connect()));
  afterAll(() => client.destroy());

  it('one of forty flows redeems a coupon, and each gets one answer', async () => {
    const effects: string[] = [];
    const work = (_: Ledger, flow: string) => () => {
      effects.push(flow);
      return flow;
    };
    const texts = await rush(
      fleet(() => redisLedger(client, { prefix }), work, 'SUMMER'),
      40,
    );
    expect(effects).toHaveLength(1);
    expect(texts.filter((text) => text === 'won')).toHaveLength(1);
    expect(texts.filter((text) => text === 'lost')).toHaveLength(39);
  });
});

const databaseUrl = await service('postgres');

describe.skipIf(databaseUrl === undefined)('flows on Postgres', () => {
  const pool = poolOf(databaseUrl ?? '');
  const table = newTable();
  const effects = `${table}_effects`;
  beforeAll(async () => {
    await migrateLedger(pool, { table });
    await pool.query(`CREATE TABLE ${effects} (flow text)`); // without a constraint, so that a double would show
  });
  afterAll(async () => {
    await pool.query(`DROP TABLE ${table}, ${effects}`);
    await pool.end();
  });

  const inTransaction = (ledger: Ledger, flow: string): TransactionWork<Promise<string>> =>
    (ledger as ReturnType<typeof postgresLedger>).transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [flow]);
      return flow;
    }) as unknown as TransactionWork<Promise<string>>;

  it('the effect and the claim commit together, once for an id over all flows', async () => {
    const texts = await rush(
      fleet(() => postgresLedger(pool, { table }), inTransaction, 'WINTER'),
      40,
    );
    const { rows } = await pool.query(`SELECT flow FROM ${effects}`);
    expect(rows).toHaveLength(1);
    expect(texts.filter((text) => text === 'won')).toHaveLength(1);
    await pool.query(`TRUNCATE ${effects}`);
  });

  it('and once for each flow without one', async () => {
    const texts = await rush(
      fleet(() => postgresLedger(pool, { table }), inTransaction),
      20,
    );
    const { rows } = await pool.query(`SELECT DISTINCT flow FROM ${effects}`);
    const all = await pool.query(`SELECT flow FROM ${effects}`);
    expect(texts).toEqual(Array.from({ length: 20 }, () => 'won'));
    expect(rows).toHaveLength(20);
    expect(all.rows).toHaveLength(20);
  });
});
