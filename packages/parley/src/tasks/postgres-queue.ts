import type * as Worker from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import { ConfigurationError } from '../errors.js';
import { ignore, poolOfOne } from './postgres-pool.js';

/** What is used of graphile-worker. */
export type Graphile = Pick<typeof Worker, 'Logger' | 'runMigrations' | 'runTaskList'>;

/**
 * Loads graphile-worker, which only workers and migrations need.
 *
 * @throws ConfigurationError when it is not installed.
 */
export async function loadGraphile(): Promise<Graphile> {
  try {
    return await import('graphile-worker');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new ConfigurationError(
      "The package 'graphile-worker' is not installed. Tasks on Postgres need it: npm install graphile-worker@0.17.3",
      { cause: error },
    );
  }
}

/** A logger that is silent: what goes wrong is told by the store's `onError`. */
export function silent({ Logger }: Graphile): Worker.Logger {
  return new Logger(() => ignore);
}

/** Makes graphile-worker's tables, on one connection. */
export async function migrateQueue(client: PoolClient, schema: string): Promise<void> {
  const graphile = await loadGraphile();
  const { rows } = await client.query<{ isFresh: boolean }>(`SELECT to_regclass($1) IS NULL AS "isFresh"`, [
    `"${schema}".migrations`,
  ]);
  // A migration tells all workers of the database to stop, whatever their schema. Where there is no schema yet, none
  // of them works on it, and those of the application must go on.
  const isFresh = rows[0]?.isFresh === true;
  const isMuted = (text: unknown): boolean => isFresh && text === 'select pg_notify($1, $2)';
  await graphile.runMigrations({
    pgPool: poolOfOne(client, isMuted),
    schema,
    logger: silent(graphile),
  });
}

/** The newest migration of the graphile-worker that this package is made for, which is a breaking one. */
const NEWEST = 19;

/** What is to be done when tables are missing. */
export const MIGRATE = 'Run `parley tasks migrate`, or migrateTasks(pool), of this version.';

/**
 * Looks whether graphile-worker's tables are those that this package works with.
 *
 * @throws ConfigurationError when they are older, or so new that it would be unsafe.
 */
export async function checkQueue(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ newest: number | null; breaking: number | null }>(
    `SELECT max(id)::float8 AS newest, (max(id) FILTER (WHERE breaking))::float8 AS breaking FROM "${schema}".migrations`,
  );
  const { newest, breaking } = rows[0] ?? {};
  if ((newest ?? 0) < NEWEST) {
    throw new ConfigurationError(
      `The tables of graphile-worker (schema ${schema}) are of an older version. ${MIGRATE}`,
    );
  }
  if ((breaking ?? 0) > NEWEST) {
    throw new ConfigurationError(
      `The tables of graphile-worker (schema ${schema}) are of a newer version, which this worker would harm. ` +
        'Run a worker of the version that made them.',
    );
  }
}
