import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { ConfigurationError, LedgerUnavailable } from '../../src/errors.js';
import { TRANSACTION, type TransactionWork } from '../../src/ledger/index.js';
import { migrateLedger, postgresLedger } from '../../src/ledger/postgres.js';
import { claimOf, rivalOf } from './claims.js';
import { lossyProxy, type LossyProxy } from './lossy-proxy.js';
import { newTable, poolOf } from './postgres-table.js';

const url = await service('postgres');

/** As a round does it: what the author's function gives or throws becomes the record. */
function perform(work: TransactionWork<unknown>, claim: { key: string; owner: string }): Promise<boolean> {
  return work[TRANSACTION]({ ...claim, ttl: 60_000 }, async (run) => {
    try {
      return { value: `result ${String(await run())}`, commit: true };
    } catch (error) {
      return { value: `failure ${error instanceof Error ? error.message : ''}`, commit: false };
    }
  });
}

describe.skipIf(url === undefined)('a transaction of the Postgres ledger', () => {
  const direct = poolOf(url ?? '');
  const table = newTable();
  const effects = newTable();
  let proxy: LossyProxy;
  let pool: Pool;
  let ledger: ReturnType<typeof postgresLedger>;

  beforeAll(async () => {
    await migrateLedger(direct, { table });
    await direct.query(`CREATE TABLE ${effects} (key text, UNIQUE (key) DEFERRABLE INITIALLY DEFERRED)`);
    proxy = await lossyProxy(url ?? '');
    pool = poolOf(proxy.url);
    ledger = postgresLedger(pool, { table, sweep: false, resolveFor: 2_000 });
  });
  afterEach(() => expect(pool.idleCount).toBe(pool.totalCount)); // every connection was given back
  afterAll(async () => {
    await pool.end();
    await proxy.close();
    await direct.query(`DROP TABLE ${table}, ${effects}`);
    await direct.end();
  });

  const effectsOf = async (key: string) => {
    const { rowCount } = await direct.query(`SELECT 1 FROM ${effects} WHERE key = $1`, [key]);
    return rowCount;
  };
  const insert = (key: string) =>
    ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [key]);
      return 'done';
    });

  it('commits the effect together with the record', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const visible: unknown[] = [];
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      visible.push(await effectsOf(claim.key), (await ledger.claim(rivalOf(claim))).type);
      return 'done';
    });
    expect(await perform(work, claim)).toBe(true);
    expect(visible).toEqual([0, 'running']);
    expect(await effectsOf(claim.key)).toBe(1);
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'settled', value: 'result done' });
  });

  it('keeps neither when the function throws, and records the failure', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      throw new Error('sold out');
    });
    expect(await perform(work, claim)).toBe(true);
    expect(await effectsOf(claim.key)).toBe(0);
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'settled', value: 'failure sold out' });
  });

  it('does not run for one who does not hold the claim', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    let runs = 0;
    const work = ledger.transaction(() => (runs += 1));
    expect(await perform(work, rivalOf(claim))).toBe(false);
    expect(await perform(work, claimOf())).toBe(false);
    await ledger.settle({ ...claim, value: 'value', ttl: 60_000 });
    expect(await perform(work, claim)).toBe(false);
    expect(runs).toBe(0);
  });

  it('commits nothing once it was taken over', async () => {
    const claim = claimOf({ lease: 1 });
    await ledger.claim(claim);
    const second = rivalOf(claim, { takeover: true, lease: 60_000 });
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      await client.query('SELECT pg_sleep(0.01)');
      expect(await ledger.claim(second)).toEqual({ type: 'granted' });
      return 'first';
    });
    expect(await perform(work, claim)).toBe(false);
    expect(await effectsOf(claim.key)).toBe(0);
    expect(await perform(insert(claim.key), second)).toBe(true);
    expect(await effectsOf(claim.key)).toBe(1);
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'settled', value: 'result done' });
  });

  it('of many that hold a claim one after the other, one commits', async () => {
    const key = claimOf().key;
    const claims = Array.from({ length: 8 }, () => claimOf({ key, lease: 1, takeover: true }));
    const done = await Promise.all(
      claims.map(async (claim, index) => {
        while ((await ledger.claim(claim)).type === 'lapsed');
        const work = ledger.transaction(async (client) => {
          await client.query(`INSERT INTO ${effects} VALUES ($1)`, [key]);
          await client.query('SELECT pg_sleep($1)', [(index % 3) / 100]);
        });
        return await perform(work, claim);
      }),
    );
    expect(done.filter(Boolean).length).toBeLessThanOrEqual(1);
    if (!done.includes(true)) {
      const last = claimOf({ key, takeover: true });
      await expect.poll(async () => (await ledger.claim(last)).type).toBe('granted');
      expect(await perform(insert(key), last)).toBe(true);
    }
    expect(await effectsOf(key)).toBe(1);
  });

  it('lets its lease be extended, and other claims be told, while the function runs', async () => {
    const claim = claimOf({ lease: 50 });
    await ledger.claim(claim);
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      const started = performance.now();
      expect(await ledger.extend({ ...claim, lease: 60_000 })).toBe(true);
      expect(await ledger.claim(rivalOf(claim, { takeover: true }))).toMatchObject({ type: 'running' });
      expect(performance.now() - started).toBeLessThan(1_000);
    });
    expect(await perform(work, claim)).toBe(true);
  });

  it('holds its row while it runs: it is not removed when its time is over', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const work = ledger.transaction(async () => {
      await direct.query(`UPDATE ${table} SET expires = now() - interval '1 s' WHERE key = $1`, [claim.key]);
      expect(await ledger.sweep()).toBe(0);
    });
    expect(await perform(work, claim)).toBe(true);
  });

  it('a pool of one connection is enough', async () => {
    const narrow = poolOf(url ?? '', { max: 1 });
    const one = postgresLedger(narrow, { table, sweep: false });
    const claim = claimOf();
    await one.claim(claim);
    expect(
      await perform(
        one.transaction(() => 'done'),
        claim,
      ),
    ).toBe(true);
    const failing = claimOf();
    await one.claim(failing);
    expect(
      await perform(
        one.transaction(() => Promise.reject(new Error('no'))),
        failing,
      ),
    ).toBe(true);
    await narrow.end();
  });

  describe('when COMMIT', () => {
    it('was done, and its reply was lost: it is found out', async () => {
      const claim = claimOf();
      await ledger.claim(claim);
      proxy.fault = 'unanswered';
      expect(await perform(insert(claim.key), claim)).toBe(true);
      expect(proxy.fault).toBeUndefined();
      expect(await effectsOf(claim.key)).toBe(1);
    });

    it('never arrived: it fails, nothing was done, and the next try does it', async () => {
      const claim = claimOf();
      await ledger.claim(claim);
      proxy.fault = 'lost';
      await expect(perform(insert(claim.key), claim)).rejects.toThrow();
      expect(proxy.fault).toBeUndefined();
      expect(await effectsOf(claim.key)).toBe(0);
      const next = rivalOf(claim);
      expect(await ledger.claim(next)).toEqual({ type: 'granted' });
      expect(await perform(insert(claim.key), next)).toBe(true);
      expect(await effectsOf(claim.key)).toBe(1);
    });

    it('arrives after its connection was given up: the outcome is waited for', async () => {
      const claim = claimOf();
      await ledger.claim(claim);
      proxy.fault = 'late';
      expect(await perform(insert(claim.key), claim)).toBe(true);
      expect(await effectsOf(claim.key)).toBe(1);
    });

    it('is refused (a deferred constraint): it fails, nothing was done, and the claim is free', async () => {
      const claim = claimOf();
      await direct.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      await ledger.claim(claim);
      await expect(perform(insert(claim.key), claim)).rejects.toMatchObject({ name: 'TransactionRefused' });
      expect(await effectsOf(claim.key)).toBe(1);
      expect(await ledger.claim(rivalOf(claim))).toEqual({ type: 'granted' });
    });

    it('was done, and the database cannot be asked any more: it fails, and whoever claims later is told', async () => {
      const impatient = postgresLedger(pool, { table, sweep: false, resolveFor: 300 });
      const claim = claimOf();
      await impatient.claim(claim);
      proxy.fault = 'last';
      const work = impatient.transaction(async (client) => {
        await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      });
      const started = performance.now();
      await expect(perform(work, claim)).rejects.toThrow(LedgerUnavailable);
      expect(performance.now() - started).toBeLessThan(2_000);
      proxy.closed = false;
      expect(await effectsOf(claim.key)).toBe(1);
      expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'settled' });
    });
  });

  it('when its connection is lost half-way: nothing was done, and the process lives', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      proxy.cut();
      await new Promise((done) => setTimeout(done, 20)); // as if it awaited something else
      return 'done';
    });
    await expect(perform(work, claim)).rejects.toThrow();
    expect(await effectsOf(claim.key)).toBe(0);
    expect(await ledger.claim(rivalOf(claim))).toEqual({ type: 'granted' });
  });

  it('when the function went on after a statement that failed: nothing was done, and the claim is free', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const work = ledger.transaction(async (client) => {
      await client.query(`INSERT INTO ${effects} VALUES ($1)`, [claim.key]);
      await client.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(perform(work, claim)).rejects.toMatchObject({ name: 'TransactionRefused' });
    expect(await effectsOf(claim.key)).toBe(0);
    expect(await ledger.claim(rivalOf(claim))).toEqual({ type: 'granted' });
  });

  it('when the record cannot be made: nothing was done, and the claim is free', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const record = async (run: () => Promise<unknown>) => {
      await run();
      throw new Error('no key to seal with');
    };
    const work = insert(claim.key)[TRANSACTION]({ ...claim, ttl: 1_000 }, record);
    await expect(work).rejects.toThrow('no key to seal with');
    expect(await effectsOf(claim.key)).toBe(0);
    expect(await ledger.claim(rivalOf(claim))).toEqual({ type: 'granted' });
  });

  it('belongs into flow.once, and says so', () => {
    expect(() => ledger.transaction(() => 1)()).toThrow(ConfigurationError);
    expect(() => ledger.transaction(() => 1)()).toThrow(/flow\.once/);
  });
});
