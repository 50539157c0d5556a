import { randomBytes } from 'node:crypto';
import { tasksSql } from 'mcp-parley/tasks/postgres';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { tasksMigrate, type TasksMigrateIo } from '../../src/commands/tasks-migrate.js';
import { loadTaskTools } from '../../src/load-postgres.js';
import { parley } from '../parley.js';

const url = await service('postgres');
const NOWHERE = 'postgres://127.0.0.1:1/nowhere';

function surroundings(address: string | undefined): TasksMigrateIo & { readonly said: () => string } {
  let out = '';
  return {
    env: { DATABASE_URL: address },
    out: (text) => void (out += text),
    tasksSql,
    loadTaskTools,
    said: () => out,
  };
}

describe.skipIf(url === undefined)('tasks migrate, on a database', () => {
  it('makes the tables, and may be run again', async () => {
    const schema = `parley_cli_${randomBytes(6).toString('hex')}`;
    const io = surroundings(url);
    for (const _ of ['once', 'again'])
      await tasksMigrate({ urlEnv: 'DATABASE_URL', print: false, schema, workerSchema: `${schema}_w` }, io);
    expect(io.said()).toBe(`The tables of tasks are there, in the schema ${schema}.\n`.repeat(2));
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('SELECT to_regclass($1) AS tasks, to_regclass($2) AS jobs', [
      `${schema}.tasks`,
      `${schema}_w.jobs`,
    ]);
    await client.query(`DROP SCHEMA ${schema}, ${schema}_w CASCADE`);
    await client.end();
    expect(rows).toEqual([{ tasks: `${schema}.tasks`, jobs: `${schema}_w.jobs` }]);
  });
});

describe('tasks migrate', () => {
  it('says what is wrong with a name before it connects', async () => {
    const options = { urlEnv: 'DATABASE_URL', print: false, schema: 'a; DROP TABLE b' };
    await expect(tasksMigrate(options, surroundings(NOWHERE))).rejects.toThrow(/schema must be the name/);
  });

  it('says when the database cannot be reached', async () => {
    const options = { urlEnv: 'DATABASE_URL', print: false };
    await expect(tasksMigrate(options, surroundings(NOWHERE))).rejects.toThrow(/ECONNREFUSED/);
  });

  it('prints the SQL, and connects to nothing', async () => {
    const io = surroundings(undefined);
    await tasksMigrate({ urlEnv: 'DATABASE_URL', print: true, schema: 'app' }, io);
    expect(io.said()).toContain('CREATE TABLE IF NOT EXISTS "app".tasks');
  });

  it('takes the address from the environment only', async () => {
    expect(await parley(['tasks', 'migrate'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('DATABASE_URL is not set'),
    });
    const secret = 'postgres://user:secret@host/db';
    const { code, err } = await parley(['tasks', 'migrate', secret]);
    expect(code).toBe(2);
    expect(err).not.toContain('secret@');
  });
});
