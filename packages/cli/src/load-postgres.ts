import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrateLedger } from 'mcp-parley/ledger/postgres';
import type * as Pg from 'pg';
import type { PostgresTools } from './commands/ledger-migrate.js';

/** How long a connection may take, in ms. */
const CONNECT_WITHIN = 10_000;

/**
 * Loads `pg`: as this package sees it, or as the project in the current folder does, where this package stands
 * somewhere else (`npx`).
 *
 * @throws Error when it is in neither place.
 */
export async function loadPostgres(): Promise<PostgresTools> {
  const pg = await load();
  return {
    connect(url) {
      const pool = new pg.Pool({
        connectionString: url,
        max: 1,
        connectionTimeoutMillis: CONNECT_WITHIN,
        application_name: 'parley',
      });
      return pool.on('error', () => undefined); // a connection that is lost fails what uses it
    },
    migrate: (pool, options) => migrateLedger(pool as Pg.Pool, options),
  };
}

async function load(): Promise<typeof Pg> {
  try {
    return await import('pg');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    const here = createRequire(pathToFileURL(join(process.cwd(), 'package.json')));
    const found = (await import(pathToFileURL(here.resolve('pg')).href)) as { default: typeof Pg };
    return found.default;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  throw new Error(
    "The package 'pg' is not installed. Install it with `npm install pg`, or print the SQL with --print.",
  );
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}
