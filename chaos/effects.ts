/**
 * What was really done. Servers append lines to one file (O_APPEND, one write a line, so that a process that is
 * killed leaves a whole line or none), or rows to a table; the checker reads both at the end.
 */
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Pool, PoolClient } from 'pg';

/** Something that was begun or done. */
export interface Effect {
  /** `begin` before the work's effect; the other two are effects. */
  readonly kind: 'begin' | 'redeem' | 'mail';
  /** The key of `flow.once`. */
  readonly key: 'redeem' | 'mail';
  readonly coupon: string;
  readonly flow: string;
  readonly person: string;
  readonly note: string;
  /** Which life of which server process did it. */
  readonly life: string;
  /** In ms since 1970. */
  readonly at: number;
}

/** No unique constraint: a second redemption must show, not fail. */
const TABLE = 'CREATE TABLE effects (coupon text, flow text, person text, note text, life text, at float8)';

export async function createEffectsTable(pool: Pool): Promise<void> {
  await pool.query(TABLE);
}

/** Appends an effect to the file. */
export function appendEffect(file: number, effect: Effect): void {
  writeSync(file, `${JSON.stringify(effect)}\n`);
}

/** Inserts a redemption, in the transaction of this client. */
export async function insertRedemption(
  client: Pick<PoolClient, 'query'>,
  { coupon, flow, person, note, life, at }: Effect,
): Promise<void> {
  const text = 'INSERT INTO effects (coupon, flow, person, note, life, at) VALUES ($1, $2, $3, $4, $5, $6)';
  await client.query(text, [coupon, flow, person, note, life, at]);
}

/** Everything that was begun and done. */
export async function readEffects(path: string, pool: Pool): Promise<readonly Effect[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  const { rows } = await pool.query<Effect>(
    `SELECT 'redeem' AS kind, 'redeem' AS key, coupon, flow, person, note, life, at FROM effects`,
  );
  return [...lines.map((line) => JSON.parse(line) as Effect), ...rows];
}
