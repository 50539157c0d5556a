import { readFile } from 'node:fs/promises';
import type { Pool } from 'pg';
import { ConfigurationError } from '../errors.js';
import { migrateQueue } from './postgres-queue.js';
import { ignore } from './postgres-pool.js';

/** The default schema, and the one that stands in the SQL file. */
const DEFAULT_SCHEMA = 'parley';

/** Lower case only, so that the name means the same with quotes and without. */
const NAME = /^[a-z_][a-z0-9_]*$/;

/** Names are cut at 63 bytes by Postgres. */
const MAX_NAME = 63;
const QUEUE = '_worker';

/** Where the tables stand. */
export interface SchemaOptions {
  /** The schema of the tables, in lower case. Default `parley`. */
  readonly schema?: string;
  /**
   * The schema of graphile-worker, in lower case. Default: the schema of the tables with `_worker` behind it. One of
   * its own: an application that uses graphile-worker too may use another version of it.
   */
  readonly workerSchema?: string;
}

/** Names as they are, of schemas whose names were read. */
export interface Schemas {
  readonly tables: string;
  readonly queue: string;
}

/**
 * Reads the names of the schemas. They end up in SQL, where no parameter can stand for them.
 *
 * @throws ConfigurationError
 */
export function readSchemas({ schema = DEFAULT_SCHEMA, workerSchema }: SchemaOptions): Schemas {
  const tables = readName('schema', schema, MAX_NAME - QUEUE.length);
  const queue = readName('workerSchema', workerSchema ?? tables + QUEUE, MAX_NAME);
  if (tables === queue) {
    throw new ConfigurationError(
      'schema and workerSchema must differ: graphile-worker has its schema for itself.',
    );
  }
  return { tables, queue };
}

function readName(option: string, name: string, most: number): string {
  if (typeof name !== 'string' || !NAME.test(name) || name.length > most || name.startsWith('pg_')) {
    throw new ConfigurationError(
      `${option} must be the name of a schema: a to z, 0 to 9 and _, no digit first, not pg_, at most ${most} characters.`,
    );
  }
  return name;
}

/** A name as it stands in SQL. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/**
 * The SQL that makes the tables; the text of `mcp-parley/tasks/postgres.sql`, with the schema's name in it.
 * graphile-worker's own tables are made by {@link migrateTasks}, or by `graphile-worker --schema-only`.
 *
 * @throws ConfigurationError when the name cannot be used.
 */
export async function tasksSql(options: Pick<SchemaOptions, 'schema'> = {}): Promise<string> {
  const { tables } = readSchemas(options);
  const text = await readFile(new URL('../../sql/tasks.sql', import.meta.url), 'utf8');
  if (tables === DEFAULT_SCHEMA) return text;
  return text
    .replaceAll(/\bparley\.(?=task)/g, `${quoted(tables)}.`)
    .replace("to_regnamespace('parley')", `to_regnamespace('${tables}')`)
    .replace('CREATE SCHEMA parley', `CREATE SCHEMA ${quoted(tables)}`);
}

/**
 * Makes the tables of tasks, and those of graphile-worker. May be run again, and by several processes at once; it
 * changes nothing that is there. Needs the right to create schemas, which tasks themselves do not, and a connection of
 * its own to the database (not pgbouncer in transaction mode).
 *
 * @throws ConfigurationError when a name cannot be used, or graphile-worker is not installed; what `pg` throws when
 *   the database refuses.
 */
export async function migrateTasks(pool: Pool, options: SchemaOptions = {}): Promise<void> {
  const { queue } = readSchemas(options);
  const sql = await tasksSql(options);
  const client = await pool.connect();
  client.on('error', ignore); // a connection that is lost fails the query as well
  let isDone = false;
  try {
    // IF NOT EXISTS alone is no protection: two that look at the same time both create, and one fails. Held by the
    // session, since graphile-worker makes transactions of its own.
    await client.query("SELECT pg_advisory_lock(hashtext('mcp-parley/tasks'))");
    await client.query('BEGIN');
    await client.query(sql);
    await client.query('COMMIT');
    await migrateQueue(client, queue);
    await client.query("SELECT pg_advisory_unlock(hashtext('mcp-parley/tasks'))");
    isDone = true;
  } finally {
    client.off('error', ignore);
    client.release(!isDone); // ends the connection, and with it transaction and lock
  }
}
