import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { PgTaskStore, type StoreSettings } from '../../src/tasks/postgres-store.js';
import { migrateTasks, readSchemas } from '../../src/tasks/postgres-schema.js';
import type { NewTask, TaskClaim } from '../../src/tasks/store.js';

/** A schema's name that nobody else has. */
export function newSchema(): string {
  return `parley_test_${randomBytes(6).toString('hex')}`;
}

/** A store on a schema that was migrated. */
export function storeOn(pool: Pool, schema: string, more: Partial<StoreSettings> = {}): PgTaskStore {
  return new PgTaskStore(pool, {
    schemas: readSchemas({ schema }),
    sweepEvery: 100,
    drain: 25_000,
    onError: () => undefined,
    ...more,
  });
}

/** Makes the schema, and gives what removes it. */
export async function migrated(pool: Pool, schema: string): Promise<() => Promise<void>> {
  await migrateTasks(pool, { schema });
  return async () => void (await pool.query(`DROP SCHEMA "${schema}", "${schema}_worker" CASCADE`));
}

/** A task that nobody else has. */
export function newTask(more: Partial<NewTask> = {}): NewTask {
  const createdAt = more.createdAt ?? Date.now();
  const ttl = more.ttl ?? 60_000;
  return {
    id: randomBytes(16).toString('base64url'),
    flow: randomBytes(32).toString('base64url'),
    principal: randomBytes(32).toString('base64url'),
    head: 'head',
    createdAt,
    ttl,
    expiresAt: createdAt + ttl,
    pollInterval: 2_000,
    markUntil: createdAt + ttl,
    ...more,
  };
}

/** A claim that is sure to be had. */
export async function claimed(store: PgTaskStore, id: string, lease = 60_000): Promise<TaskClaim> {
  const claim = await store.claim(id, lease);
  if (claim === undefined) throw new Error('The task could not be claimed.');
  return claim;
}
