import { randomBytes } from 'node:crypto';
import { ledgerSql } from 'mcp-parley/ledger/postgres';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { ledgerMigrate } from '../../src/commands/ledger-migrate.js';
import { loadPostgres } from '../../src/load-postgres.js';

const url = await service('postgres');

describe.skipIf(url === undefined)('ledger migrate, on a database', () => {
  it('makes the table, and may be run again', async () => {
    const table = `parley_cli_${randomBytes(6).toString('hex')}`;
    let out = '';
    const io = { env: { DATABASE_URL: url }, out: (text: string) => (out += text), ledgerSql, loadPostgres };
    for (const _ of ['once', 'again'])
      await ledgerMigrate({ urlEnv: 'DATABASE_URL', print: false, table }, io);
    expect(out).toBe(`The table ${table} is there.\n`.repeat(2));
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(`SELECT * FROM ${table}`);
    expect(rows).toEqual([]);
    await client.query(`DROP TABLE ${table}`);
    await client.end();
  });

  it('refuses a name that is none before it connects', async () => {
    const io = {
      env: { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' },
      out: () => undefined,
      ledgerSql,
      loadPostgres,
    };
    const options = { urlEnv: 'DATABASE_URL', print: false, table: 'a; DROP TABLE b' };
    await expect(ledgerMigrate(options, io)).rejects.toThrow(/table must be the name/);
  });

  it('says when the database cannot be reached', async () => {
    const io = {
      env: { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' },
      out: () => undefined,
      ledgerSql,
      loadPostgres,
    };
    await expect(ledgerMigrate({ urlEnv: 'DATABASE_URL', print: false }, io)).rejects.toThrow(/ECONNREFUSED/);
  });
});
