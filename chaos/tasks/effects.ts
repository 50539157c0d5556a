/** What errands do to the world: a line in a file, or a row in a table. Neither keeps anything from being done twice. */
import { readFile } from 'node:fs/promises';
import { writeSync } from 'node:fs';
import type { Pool, PoolClient } from 'pg';

/** Something that was done. `step`: a step ran; `effect`: what must be done once. */
export interface Deed {
  readonly kind: 'step' | 'effect';
  readonly label: string;
  readonly flow: string;
  readonly life: string;
}

/** Appends a line; it is in the file when this returns, whatever happens to the process. */
export function appendDeed(log: number, deed: Deed): void {
  writeSync(log, `${JSON.stringify(deed)}\n`);
}

/** The table has no key on purpose: a second row is what is looked for. */
export async function createDeeds(pool: Pool): Promise<void> {
  await pool.query('CREATE TABLE deeds (label text, flow text, life text)');
}

export async function insertDeed(client: PoolClient, { label, flow, life }: Deed): Promise<void> {
  await client.query('INSERT INTO deeds VALUES ($1, $2, $3)', [label, flow, life]);
}

/** All that was done, of file and table. */
export async function readDeeds(file: string, pool: Pool): Promise<readonly Deed[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const { rows } = await pool.query<Deed>("SELECT 'effect' AS kind, label, flow, life FROM deeds");
  return [...lines.map((line) => JSON.parse(line) as Deed), ...rows];
}
