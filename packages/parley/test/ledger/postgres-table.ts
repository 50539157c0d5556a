import { randomBytes } from 'node:crypto';
import { Pool, type PoolConfig } from 'pg';

/** A pool for tests: errors of idle connections end no test. */
export function poolOf(url: string, more: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 5_000, ...more });
  return pool.on('error', () => undefined);
}

/** A table's name that nobody else has. */
export function newTable(): string {
  return `parley_test_${randomBytes(6).toString('hex')}`;
}
