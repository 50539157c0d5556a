import type { Pool, PoolClient, QueryConfig } from 'pg';

type Connected = (error: Error | undefined, client: PoolClient | undefined, release: () => void) => void;

/** Clients whose errors somebody hears. Once is enough, however many workers a pool has. */
const heard = new WeakSet<PoolClient>();

/**
 * The application's pool, as graphile-worker gets it. A connection that is lost while graphile-worker has it would end
 * the process: nobody listens for its errors then. Queries on it fail as well, so the event says nothing more.
 */
export function lent(pool: Pool): Pool {
  const hear = (client: PoolClient): PoolClient => {
    if (!heard.has(client)) client.on('error', ignore);
    heard.add(client);
    return client;
  };
  const connect = (connected?: Connected): unknown => {
    if (connected === undefined) return pool.connect().then(hear);
    return pool.connect((error, client, release) =>
      connected(error, client === undefined ? client : hear(client), release),
    );
  };
  const view: Pool = Object.create(pool, { connect: { value: connect } });
  return view;
}

/**
 * One client, as a pool that has nothing else.
 *
 * @param isMuted whether a statement is not to be run.
 */
export function poolOfOne(client: PoolClient, isMuted: (text: unknown) => boolean): Pool {
  const query = async (text: string | QueryConfig, values?: unknown[]): Promise<unknown> =>
    isMuted(text) ? { rows: [], rowCount: 0 } : await client.query(text, values);
  const one: PoolClient = Object.create(client, { query: { value: query }, release: { value: ignore } });
  const pool: Pool = Object.create(null, {
    connect: { value: async () => one },
    listeners: { value: () => [ignore] },
    options: { value: { max: 1 } },
  });
  return pool;
}

/** Runs statements in a transaction. What `work` throws rolls it back; so does `false`. */
export async function transaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T | false>,
): Promise<T | false> {
  const client = await pool.connect();
  client.on('error', ignore); // a connection that is lost fails the query as well
  let isClean = false;
  try {
    // Each statement sees what was committed before it, once the row is locked.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(client);
    await client.query(result === false ? 'ROLLBACK' : 'COMMIT');
    isClean = true;
    return result;
  } finally {
    client.off('error', ignore);
    client.release(!isClean); // ends the connection, and with it the transaction
  }
}

export function ignore(): void {}
