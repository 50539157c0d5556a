import type { Pool, PoolClient } from 'pg';
import { ConfigurationError, LedgerUnavailable } from '../errors.js';
import { TRANSACTION, TransactionRefused, type Fenced, type Ledger, type TransactionWork } from './ledger.js';
import type { Table } from './postgres-table.js';

/*
 * Work whose effect and whose record commit together. Invariants kept here:
 *
 *  T1  What the author writes commits only in a transaction that also settled the claim, fenced by its owner. So of
 *      two that hold a claim one after the other, one commits at most, however long the first goes on.
 *  T2  No lock that another claim or the extension of a lease would wait for is held while the author's function
 *      runs: each that waits would hold a connection of the pool.
 *  T3  A COMMIT without a reply is not guessed at. The row tells what came of it, once its lock can be had.
 */

/** What a transaction needs of its ledger. */
export interface TransactionStore {
  readonly pool: Pool;
  readonly table: Table;
  /** How long a COMMIT may take, and after that, how long its outcome is looked for. In ms. */
  readonly resolveFor: number;
  readonly ledger: Pick<Ledger, 'settle' | 'release'>;
}

type Claim = Fenced & { readonly ttl: number };
type Recorder<R> = Parameters<TransactionWork<R>[typeof TRANSACTION]>[1];

/** What came of a transaction. */
type Fate =
  | { readonly type: 'committed' }
  /** Another holds the claim. Nothing was committed. */
  | { readonly type: 'lost' }
  /** The author's function failed. Nothing was committed; the failure is to be recorded. */
  | { readonly type: 'failed'; readonly value: string }
  /** COMMIT was refused, or not answered. */
  | { readonly type: 'unknown'; readonly error: Error };

/** Time between two looks at the row, in ms. */
const PAUSE = 100;

/** Makes the work that `flow.once` runs in a transaction. */
export function transactionWork<R>(
  store: TransactionStore,
  work: (client: PoolClient) => R | Promise<R>,
): TransactionWork<R> {
  const direct = (): R => {
    throw new ConfigurationError(
      'What ledger.transaction gives belongs into flow.once(key, …), of a Parley that has this ledger.',
    );
  };
  const run = (claim: Claim, record: Recorder<R>) => transact(store, work, claim, record);
  return Object.assign(direct, { [TRANSACTION]: run });
}

async function transact<R>(
  store: TransactionStore,
  work: (client: PoolClient) => R | Promise<R>,
  claim: Claim,
  record: Recorder<R>,
): Promise<boolean> {
  let fate: Fate;
  try {
    fate = await attempt(store, work, claim, record);
  } catch (error) {
    await giveBack(store, claim);
    throw error;
  }
  switch (fate.type) {
    case 'committed':
      return true;
    case 'lost':
      return false;
    case 'failed':
      return await store.ledger.settle({ ...claim, value: fate.value });
    case 'unknown':
      return await resolve(store, claim, fate.error);
  }
}

/** SQLSTATE of whatever follows a failed statement. */
const IN_FAILED_TRANSACTION = '25P02';

const SWALLOWED =
  'A statement of this transaction had failed and its error was caught, so nothing can be committed. ' +
  'Use ON CONFLICT, or a SAVEPOINT around what may fail.';

/** Connection lost, shut down, serialization failure, deadlock: none of it is the author's doing, and a retry may do. */
function isPassing(error: unknown): boolean {
  return /^(?:08|57P0|40001|40P01)/.test(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The work failed.', { cause: error });
}

/** A client of the pool, in time; one that comes later goes back at once. */
async function lend(pool: Pool, ms: number): Promise<PoolClient> {
  const lent = pool.connect();
  try {
    return await within(ms, lent);
  } catch (error) {
    lent.then((client) => client.release(), ignore);
    throw error;
  }
}

/** Runs the transaction. What it throws, it throws before COMMIT was sent: nothing was committed. */
async function attempt<R>(
  { pool, table, resolveFor }: TransactionStore,
  work: (client: PoolClient) => R | Promise<R>,
  { key, owner, ttl }: Claim,
  record: Recorder<R>,
): Promise<Fate> {
  const client = await lend(pool, resolveFor);
  // While it is lent, nobody else listens, and a connection that is lost would end the process. Queries fail too.
  client.on('error', ignore);
  let clean: boolean | undefined;
  try {
    // A snapshot for the whole transaction would not survive the extension of the lease beside it.
    await within(resolveFor, client.query('BEGIN ISOLATION LEVEL READ COMMITTED'));
    // KEY SHARE keeps the row from being removed, and lets leases be extended and claims be taken over (T2).
    const held = await within(
      resolveFor,
      client.query(
        `SELECT FROM ${table.name} WHERE key = $1 AND owner = $2 AND value IS NULL
           AND expires > statement_timestamp() FOR KEY SHARE`,
        [key, owner],
      ),
    );
    if (held.rowCount !== 1) return { type: 'lost' };
    const made = await record(async () => await work(client));
    const { value } = made;
    if (!made.commit) {
      clean = await rollback(client, resolveFor);
      // Not the author's doing: the connection was lost, or the database asked for another try. Nothing is recorded.
      if (!clean || isPassing(made.cause)) throw asError(made.cause);
      return { type: 'failed', value };
    }
    const settled = await within(
      resolveFor,
      client.query(
        `UPDATE ${table.name}
           SET value = $3, expires = statement_timestamp() + $4::float8 * interval '1 millisecond'
         WHERE key = $1 AND owner = $2 AND value IS NULL`,
        [key, owner, value, ttl],
      ),
    ).catch((error: unknown) => {
      throw codeOf(error) === IN_FAILED_TRANSACTION ? new TransactionRefused(SWALLOWED) : error;
    });
    if (settled.rowCount !== 1) return { type: 'lost' };
    const fault = await commit(client, resolveFor);
    if (fault instanceof TransactionRefused) throw fault;
    clean = fault === undefined;
    return fault === undefined ? { type: 'committed' } : { type: 'unknown', error: fault };
  } finally {
    // A connection that cannot be rolled back, or that owes a reply, is ended, and with it its transaction.
    clean ??= await rollback(client, resolveFor);
    client.off('error', ignore);
    client.release(!clean);
  }
}

/** Gives why the outcome is not known, if it is not. A transaction in which something failed says ROLLBACK. */
async function commit(client: PoolClient, patience: number): Promise<Error | undefined> {
  try {
    const { command } = await within(patience, client.query('COMMIT'));
    return command === 'COMMIT' ? undefined : new TransactionRefused(SWALLOWED);
  } catch (error) {
    // A constraint that is checked at the end: refused for good, and nothing was committed.
    if (codeOf(error)?.startsWith('23') === true) return new TransactionRefused(asError(error).message);
    return error instanceof Error ? error : new Error('COMMIT failed.', { cause: error });
  }
}

async function rollback(client: PoolClient, ms: number): Promise<boolean> {
  return await within(ms, client.query('ROLLBACK')).then(
    () => true,
    () => false,
  );
}

/**
 * Finds out what came of a COMMIT that was not answered. The lost transaction has the row locked until it ends, so
 * whoever gets the lock sees its outcome and not a moment before it.
 *
 * @throws the fault itself when nothing was committed; LedgerUnavailable when that cannot be told in time. Whoever
 *   claims later is told by the row.
 */
async function resolve(store: TransactionStore, claim: Claim, fault: Error): Promise<boolean> {
  const until = performance.now() + store.resolveFor;
  for (let left = store.resolveFor; left > 0; left = until - performance.now()) {
    switch (await within(left, readFate(store, claim, left)).catch(ignore)) {
      case 'settled':
        return true;
      case 'taken-over':
        return false;
      case 'open':
        await giveBack(store, claim);
        throw fault;
      case 'absent':
        throw new LedgerUnavailable('commit', { cause: fault });
      case undefined: // the database cannot be asked, or the transaction has not ended
        await sleep(Math.min(PAUSE, left));
    }
  }
  throw new LedgerUnavailable('commit', { cause: fault });
}

/** What the row of a claim says of it. */
type Found = 'settled' | 'open' | 'taken-over' | 'absent';

async function readFate(
  { pool, table }: TransactionStore,
  { key, owner }: Claim,
  left: number,
): Promise<Found> {
  const client = await lend(pool, left);
  client.on('error', ignore);
  let clean = false;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await client.query("SELECT set_config('lock_timeout', $1, true)", [`${Math.ceil(left)}ms`]);
    const { rows } = await client.query<{ mine: boolean; settled: boolean }>(
      `SELECT owner = $2 AS mine, value IS NOT NULL AS settled FROM ${table.name} WHERE key = $1 FOR SHARE`,
      [key, owner],
    );
    clean = await rollback(client, left);
    const [row] = rows;
    if (row === undefined) return 'absent';
    if (!row.mine) return 'taken-over';
    return row.settled ? 'settled' : 'open';
  } finally {
    client.off('error', ignore);
    client.release(!clean);
  }
}

/** Nothing was committed, so the next try need not wait for the lease to lapse. If this fails, it does. */
async function giveBack({ ledger }: TransactionStore, claim: Claim): Promise<void> {
  await ledger.release(claim).catch(ignore);
}

/** What a promise gives, if it does within `ms`. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${Math.ceil(ms)} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms));
}

function ignore(): void {}
