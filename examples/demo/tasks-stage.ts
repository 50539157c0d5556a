/** What the story of the nightly report is told with: a database, a server, workers, and a client that takes tasks. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { generateKey } from 'mcp-parley';
import { migrateLedger } from 'mcp-parley/ledger/postgres';
import { migrateTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import { startPostgres } from '../../test/services/index.js';
import { ServerProcess } from './fleet.js';
import type { Report } from './report.js';

/** How long a worker that is not heard of keeps its task. The default is half a minute. */
export const LEASE_MS = 2_000;

/** Longest wait for what a worker is about to do. */
export const WORK_MS = 20_000;

/** Where the story keeps its tasks. */
export type TaskCarrier = 'memory' | 'postgres';

/** Everything that runs. */
export interface TaskStage {
  readonly url: string;
  /** An official client, connected. */
  readonly client: Client;
  /** The processes that run tasks: two workers, or with tasks in memory the server itself. */
  readonly workers: readonly ServerProcess[];
}

/** Starts everything, lets the story be told, and ends everything, whatever comes. */
export async function onTaskStage(
  report: Report,
  carrier: TaskCarrier,
  tell: (stage: TaskStage) => Promise<void>,
): Promise<void> {
  const closing: (() => void | Promise<void>)[] = [];
  const start = (name: string, env: Record<string, string>, worker = false): ServerProcess => {
    const child = new ServerProcess(name, env, worker ? 'nightly-worker.ts' : 'nightly-server.ts');
    closing.unshift(() => child.end());
    process.once('exit', () => child.end());
    return child;
  };
  try {
    const env: Record<string, string> = { PARLEY_KEYS: generateKey(), LEASE_MS: String(LEASE_MS) };
    if (carrier === 'postgres') {
      const postgres = await startPostgres();
      closing.unshift(() => postgres.dispose());
      await migrate(postgres.url);
      env['DATABASE_URL'] = postgres.url;
      report.row('postgres', `127.0.0.1:${new URL(postgres.url).port}, its tables made by migrateTasks()`);
    }
    const server = start('server', env);
    const workers = carrier === 'postgres' ? ['A', 'B'].map((name) => start(name, env, true)) : [server];
    const url = `http://127.0.0.1:${await server.port()}/mcp`;
    report.row(
      'server',
      `${new URL(url).host}, pid ${server.pid}${carrier === 'memory' ? ', runs the tasks' : ''}`,
    );
    for (const worker of workers.filter((each) => each !== server)) {
      await worker.saw('working', { within: WORK_MS });
      report.row(`worker ${worker.name}`, `pid ${worker.pid}`);
    }
    const client = await connect(url);
    closing.unshift(() => client.close());
    report.row('client', `drive() over the official one, MCP ${client.getNegotiatedProtocolVersion()}`);
    await tell({ url, client, workers });
  } finally {
    for (const close of closing) await close();
  }
}

async function migrate(connectionString: string): Promise<void> {
  const pool = new Pool({ connectionString, max: 1 });
  try {
    await migrateTasks(pool);
    await migrateLedger(pool);
  } finally {
    await pool.end();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client(
    { name: "alice's client", version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
