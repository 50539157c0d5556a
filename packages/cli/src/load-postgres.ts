import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrateLedger } from 'mcp-parley/ledger/postgres';
import type * as PostgresTasks from 'mcp-parley/tasks/postgres';
import type * as Pg from 'pg';
import type { PostgresTools } from './commands/ledger-migrate.js';
import type { TaskTools } from './commands/tasks-migrate.js';
import { importAs, isMissing } from './import-as.js';

/** How long a connection may take, in ms. */
const CONNECT_WITHIN = 10_000;

/**
 * Loads `pg`: as this package sees it, or as the project in the current folder does, where this package stands
 * somewhere else (`npx`).
 *
 * @throws Error when it is in neither place.
 */
export async function loadPostgres(): Promise<PostgresTools> {
  const pg = await loadPg();
  return {
    connect: (url) => connect(pg, url),
    migrate: (pool, options) => migrateLedger(pool as Pg.Pool, options),
  };
}

/**
 * Loads `pg`, as {@link loadPostgres} does, and what makes the tables of tasks, in the same way: it needs
 * `graphile-worker` beside it.
 *
 * @throws Error when `pg` is in neither place.
 */
export async function loadTaskTools(): Promise<TaskTools> {
  const pg = await loadPg();
  const { migrateTasks } = await loadPostgresTasks();
  return {
    connect: (url) => connect(pg, url),
    migrate: (pool, options) => migrateTasks(pool as Pg.Pool, options),
  };
}

function connect(pg: typeof Pg, url: string): Pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: CONNECT_WITHIN,
    application_name: 'parley',
  });
  return pool.on('error', () => undefined); // a connection that is lost fails what uses it
}

/** The project in the current folder, as modules see it. */
function project(): string {
  return pathToFileURL(join(process.cwd(), 'package.json')).href;
}

async function loadPg(): Promise<typeof Pg> {
  try {
    return await import('pg');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const found = await importAs<{ default: typeof Pg }>(project(), 'pg');
  if (found !== undefined) return found.default;
  throw new Error(
    "The package 'pg' is not installed. Install it with `npm install pg`, or print the SQL with --print.",
  );
}

async function loadPostgresTasks(): Promise<typeof PostgresTasks> {
  const name = 'mcp-parley/tasks/postgres';
  const isHere = await import('graphile-worker').then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  const theirs = isHere ? undefined : await importAs<typeof PostgresTasks>(project(), name);
  // Ours says what is missing.
  return theirs ?? (await import('mcp-parley/tasks/postgres'));
}
