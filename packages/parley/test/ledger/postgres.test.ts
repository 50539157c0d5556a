import { readFile } from 'node:fs/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBinary, startPostgres } from '../../../../test/services/index.js';
import { service } from '../../../../test/services/use.js';
import { ConfigurationError } from '../../src/errors.js';
import { ledgerSql, migrateLedger, postgresLedger } from '../../src/ledger/postgres.js';
import { ledgerCases } from '../../src/testing/index.js';
import { claimOf, rivalOf } from './claims.js';
import { newTable, poolOf } from './postgres-table.js';

const url = await service('postgres');

describe.skipIf(url === undefined)('the Postgres ledger', () => {
  const pool = poolOf(url ?? '');
  const table = newTable();
  const ledger = postgresLedger(pool, { table, sweep: false });
  const expire = async (key: string) =>
    void (await pool.query(`UPDATE ${table} SET expires = now() - interval '1 s' WHERE key = $1`, [key]));
  const rowOf = async (key: string) => {
    const { rows } = await pool.query<Record<string, unknown>>(`SELECT * FROM ${table} WHERE key = $1`, [
      key,
    ]);
    return rows[0];
  };

  beforeAll(() => migrateLedger(pool, { table }));
  afterAll(async () => {
    await pool.query(`DROP TABLE ${table}`);
    await pool.end();
  });

  describe('as every ledger', () => {
    it.concurrent.each(ledgerCases)('$name', async ({ run }) => {
      await run(async () => ({ ledger: postgresLedger(pool, { table, sweep: false }) }));
    });

    it.concurrent.each(ledgerCases)('$name (while what has expired is removed)', async ({ run }) => {
      const sweep = { writes: 1, pause: 0, batch: 2 };
      await run(async () => ({ ledger: postgresLedger(pool, { table, sweep }) }));
    });
  });

  it('claims in one statement', async () => {
    const statements: unknown[] = [];
    const spy = {
      connect: () => pool.connect(),
      query: (text: string, values: unknown[]) => (statements.push(text), pool.query(text, values)),
    } as unknown as Pool;
    const watched = postgresLedger(spy, { table, sweep: false });
    const claim = claimOf();
    await watched.claim(claim);
    await watched.claim(rivalOf(claim));
    await watched.settle({ ...claim, value: 'value', ttl: 1_000 });
    await watched.claim(rivalOf(claim));
    expect(statements).toHaveLength(4);
  });

  it('keeps a claim for as long as its lease, also where its time is shorter', async () => {
    const claim = claimOf({ ttl: 1, lease: 60_000 });
    await ledger.claim(claim);
    await pool.query('SELECT pg_sleep(0.02)');
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
  });

  it('leaves a large result where it is when a claim is not granted', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    const value = Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 10)).join('');
    await ledger.settle({ ...claim, value, ttl: 60_000 });
    const size = async () => {
      const { rows } = await pool.query<{ size: string }>(
        'SELECT pg_table_size($1::text::regclass) AS size',
        [table],
      );
      return Number(rows[0]?.size);
    };
    const before = await size();
    for (let again = 0; again < 50; again += 1) await ledger.claim(rivalOf(claim));
    expect((await size()) - before).toBeLessThan(value.length);
  });

  it('stores what it was given and nothing else', async () => {
    const [settled, put] = [claimOf({ digest: 'the digest' }), claimOf()];
    await ledger.claim(settled);
    await ledger.settle({ ...settled, value: 'the value', ttl: 60_000 });
    await ledger.put({ key: put.key, value: 'what was put', ttl: 60_000 });
    const { key, owner } = settled;
    const times = { lapses: expect.any(Date), expires: expect.any(Date) };
    expect(await rowOf(key)).toEqual({ key, owner, digest: 'the digest', value: 'the value', ...times });
    expect(await rowOf(put.key)).toEqual({
      key: put.key,
      owner: '',
      digest: '',
      value: 'what was put',
      ...times,
    });
  });

  describe('removes what has expired', () => {
    const expired = async (count: number) => {
      const keys: string[] = [];
      for (let each = 0; each < count; each += 1) {
        const claim = claimOf();
        await ledger.claim(claim);
        await expire(claim.key);
        keys.push(claim.key);
      }
      return keys;
    };
    const left = async (keys: readonly string[]) => {
      const { rowCount } = await pool.query(`SELECT 1 FROM ${table} WHERE key = ANY ($1)`, [keys]);
      return rowCount;
    };

    it('batch by batch, and nothing else', async () => {
      await ledger.sweep(); // what the cases left
      const kept = claimOf();
      await ledger.claim(kept);
      const keys = await expired(25);
      const batches: unknown[] = [];
      const spy = {
        connect: () => pool.connect(),
        query: async (text: string, values: unknown[]) => {
          const result = await pool.query(text, values);
          if (text.includes('DELETE')) batches.push(result.rowCount);
          return result;
        },
      } as unknown as Pool;
      const sweeping = postgresLedger(spy, { table, sweep: { batch: 10 } });
      expect(await sweeping.sweep()).toBe(25);
      expect(batches).toEqual([10, 10, 5]);
      expect(await left(keys)).toBe(0);
      expect(await left([kept.key])).toBe(1);
    });

    it('by itself, beside its writes', async () => {
      const keys = await expired(5);
      const sweeping = postgresLedger(pool, { table, sweep: { writes: 1, pause: 0, batch: 2 } });
      await sweeping.claim(claimOf());
      await expect.poll(() => left(keys)).toBe(0);
      await sweeping.close();
    });

    it('not more often than it was told', async () => {
      const sweeping = postgresLedger(pool, { table, sweep: { writes: 1, pause: 60_000 } });
      const keys = await expired(3);
      await sweeping.claim(claimOf());
      await expect.poll(() => left(keys)).toBe(0);
      const more = await expired(3);
      for (let each = 0; each < 10; each += 1) await sweeping.claim(claimOf());
      await sweeping.close();
      expect(await left(more)).toBe(3);
      await ledger.sweep();
    });

    it('without waiting for a row that somebody uses', async () => {
      const keys = await expired(3);
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query(`SELECT FROM ${table} WHERE key = $1 FOR KEY SHARE`, [keys[0]]);
      expect(await ledger.sweep()).toBe(2);
      await client.query('ROLLBACK');
      client.release();
      expect(await ledger.sweep()).toBe(1);
    });

    it('and tells what went wrong without failing a claim', async () => {
      const errors: unknown[] = [];
      const broken = {
        connect: () => pool.connect(),
        query: (text: string, values: unknown[]) =>
          text.includes('DELETE') ? Promise.reject(new Error('no removal')) : pool.query(text, values),
      } as unknown as Pool;
      const sweeping = postgresLedger(broken, {
        table,
        sweep: {
          writes: 1,
          pause: 0,
          onError(error) {
            errors.push(error);
            throw new Error('a listener that throws');
          },
        },
      });
      expect(await sweeping.claim(claimOf())).toEqual({ type: 'granted' });
      await sweeping.close();
      expect(errors).toEqual([new Error('no removal')]);
    });
  });

  describe('its table', () => {
    it('is made by one SQL file, which may be run again and by several at once', async () => {
      const name = newTable();
      await Promise.all(Array.from({ length: 8 }, () => migrateLedger(pool, { table: name })));
      await migrateLedger(pool, { table: name });
      const { rows } = await pool.query<{ name: string }>(
        'SELECT indexname AS name FROM pg_indexes WHERE tablename = $1 ORDER BY 1',
        [name],
      );
      expect(rows.map((row) => row.name)).toEqual([`${name}_expires`, `${name}_pkey`]);
      await pool.query(`DROP TABLE ${name}`);
    });

    it('may stand in a schema, and have a name that SQL uses', async () => {
      const schema = newTable();
      await pool.query(`CREATE SCHEMA ${schema}`);
      for (const name of ['ledger', 'user', 'order']) {
        await migrateLedger(pool, { table: `${schema}.${name}` });
        const elsewhere = postgresLedger(pool, { table: `${schema}.${name}` });
        const claim = claimOf();
        expect(await elsewhere.claim(claim)).toEqual({ type: 'granted' });
        expect(await elsewhere.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
        await elsewhere.sweep();
        await elsewhere.close();
      }
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    });

    it('is the one of the file that is exported', async () => {
      const file = await readFile(new URL('../../sql/ledger.sql', import.meta.url), 'utf8');
      expect(await ledgerSql()).toBe(file);
      expect(await ledgerSql({ table: 'app.mine' })).toBe(
        file
          .replaceAll('parley_ledger_expires', '"mine_expires"')
          .replaceAll('parley_ledger', '"app"."mine"'),
      );
    });

    it.each([
      '',
      'a b',
      'a;drop table x',
      'a"b',
      "a'b",
      'Upper',
      '1a',
      'a-b',
      'a.b.c',
      '.a',
      'a.',
      'a\0',
      'a\n',
      'ä',
      'x'.repeat(56),
      `${'x'.repeat(64)}.a`,
      7,
      null,
      {},
    ])('cannot be called %j', async (name) => {
      const options = { table: name as string };
      expect(() => postgresLedger(pool, options)).toThrow(ConfigurationError);
      await expect(migrateLedger(pool, options)).rejects.toThrow(ConfigurationError);
    });

    it('may have the longest name that leaves room for its index', async () => {
      const name = 'x'.repeat(55);
      await migrateLedger(pool, { table: name });
      await pool.query(`DROP TABLE ${name}`);
    });
  });

  it.each([undefined, null, {}, { query: () => undefined }])('refuses %j as a pool', (nothing) => {
    expect(() => postgresLedger(nothing as unknown as Pool)).toThrow(ConfigurationError);
  });

  it.each([
    { sweep: { writes: 0 } },
    { sweep: { pause: -1 } },
    { sweep: { batch: 1.5 } },
    { resolveFor: Number.NaN },
  ])('refuses %j', (options) => {
    expect(() => postgresLedger(pool, options)).toThrow(ConfigurationError);
  });
});

// With DATABASE_URL alone there may be a server and no program to start others with.
const alone = url === undefined || !hasBinary('initdb');

describe.skipIf(alone)('the Postgres ledger, while Postgres is away', () => {
  it('fails at once, and goes on with what it had', async () => {
    const postgres = await startPostgres();
    const pool = poolOf(postgres.url);
    try {
      await migrateLedger(pool);
      const ledger = postgresLedger(pool);
      const [claim, settled] = [claimOf(), claimOf()];
      await ledger.claim(claim);
      await ledger.claim(settled);
      await ledger.settle({ ...settled, value: 'value', ttl: 60_000 });
      for (const end of ['stop', 'kill'] as const) {
        await postgres[end]();
        const started = performance.now();
        await expect(ledger.claim(claimOf())).rejects.toThrow();
        await expect(ledger.get('key')).rejects.toThrow();
        expect(performance.now() - started).toBeLessThan(1_000);
        await postgres.start();
        expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
        expect(await ledger.claim(rivalOf(settled))).toMatchObject({ type: 'settled', value: 'value' });
      }
      await ledger.close();
    } finally {
      await pool.end();
      await postgres.dispose();
    }
  });
});

describe.skipIf(alone)('the exported SQL file', () => {
  it('runs as it is', async () => {
    const postgres = await startPostgres();
    const pool = poolOf(postgres.url);
    try {
      const sql = await ledgerSql();
      await pool.query(sql);
      await pool.query(sql);
      const claim = claimOf();
      const ledger = postgresLedger(pool);
      await ledger.claim(claim);
      expect(await ledger.settle({ ...claim, value: 'sealed', ttl: 60_000 })).toBe(true);
    } finally {
      await pool.end();
      await postgres.dispose();
    }
  });
});
