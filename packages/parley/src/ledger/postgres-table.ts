import { readFile } from 'node:fs/promises';
import type { Pool } from 'pg';
import { ConfigurationError } from '../errors.js';

/** The default name of the table, and the one that stands in the SQL file. */
export const DEFAULT_TABLE = 'parley_ledger';

/** Lower case only, so that the name means the same with quotes and without. */
const NAME = /^[a-z_][a-z0-9_]*$/;

/** Names are cut at 63 bytes by Postgres, and the index is named after the table. */
const MAX_NAME = 63;
const INDEX = '_expires';

/** A table's name as it stands in SQL. */
export interface Table {
  /** Quoted, with its schema if one was given. */
  readonly name: string;
  /** Name of the index on `expires`, quoted. */
  readonly index: string;
}

/**
 * Reads the name of a table. It ends up in SQL, where no parameter can stand for it.
 *
 * @param text `table` or `schema.table`: letters a to z, digits and `_`, no digit first.
 * @throws ConfigurationError
 */
export function readTable(text: string): Table {
  const parts = typeof text === 'string' ? text.split('.') : [];
  const [table = ''] = parts.slice(-1);
  const wellFormed = parts.every((part) => NAME.test(part) && part.length <= MAX_NAME);
  if (parts.length < 1 || parts.length > 2 || !wellFormed || table.length + INDEX.length > MAX_NAME) {
    throw new ConfigurationError(
      `table must be the name of a table, or schema.table: a to z, 0 to 9 and _, no digit first, ` +
        `at most ${MAX_NAME - INDEX.length} characters.`,
    );
  }
  return { name: parts.map(quoted).join('.'), index: quoted(table + INDEX) };
}

/**
 * The SQL that makes the table; the text of `mcp-parley/ledger/postgres.sql`, with the table's name in it.
 *
 * @throws ConfigurationError when the name cannot be used.
 */
export async function ledgerSql(options: { readonly table?: string } = {}): Promise<string> {
  const { table = DEFAULT_TABLE } = options;
  const { name, index } = readTable(table);
  const text = await readFile(new URL('../../sql/ledger.sql', import.meta.url), 'utf8');
  if (table === DEFAULT_TABLE) return text;
  return text.replace(/\bparley_ledger(_expires)?\b/g, (_, suffix?: string) => (suffix ? index : name));
}

/**
 * Makes the table of a Postgres ledger. May be run again, and by several processes at once; it changes nothing
 * that is there. Needs the right to create tables, which the ledger itself does not.
 *
 * @throws ConfigurationError when the name cannot be used; what `pg` throws when the database refuses.
 */
export async function migrateLedger(pool: Pool, options: { readonly table?: string } = {}): Promise<void> {
  const sql = await ledgerSql(options);
  const client = await pool.connect();
  client.on('error', ignore); // a connection that is lost fails the query as well
  let fault: unknown;
  try {
    await client.query('BEGIN');
    // IF NOT EXISTS alone is no protection: two that look at the same time both create, and one fails.
    await client.query("SELECT pg_advisory_xact_lock(hashtext('mcp-parley/ledger'))");
    await client.query(sql);
    await client.query('COMMIT');
  } catch (error) {
    fault = error;
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(fault !== undefined); // ends the connection, and with it the transaction
  }
}

function quoted(name: string): string {
  return `"${name}"`;
}

function ignore(): void {}
