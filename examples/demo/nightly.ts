/**
 * A server with a tool that takes a whole night: it asks, goes on as a task, works, asks again, and ends. Written as if
 * all of that happened in one process that never dies. The web server and the workers are made of this one module.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import { postgresLedger } from 'mcp-parley/ledger/postgres';
import { memoryTasks } from 'mcp-parley/tasks';
import { postgresTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import * as z from 'zod';

const { PARLEY_KEYS, DATABASE_URL, LEASE_MS = '30000' } = process.env;

/** Stands for the work of a night. */
const REGION_MS = 400;

/** Where there is a database, tasks are in it, and any worker goes on with them. Else they are in this process. */
export const parley = new Parley({ keys: PARLEY_KEYS, lease: Number(LEASE_MS), ...carrier() });

const Period = z.object({ period: z.enum(['November', 'October', 'the third quarter']) });

const REGIONS = ['north', 'south', 'east', 'west', 'abroad'];

/** Makes a server, for a request or for a worker. */
export function nightlyServer(): McpServer {
  const server = new McpServer({ name: 'reports', version: '1.0.0' });
  const flows = parley.attach(server);

  flows.registerTool(
    'nightly_report',
    { description: 'Makes a report, and mails it to the board once somebody has approved it.' },
    async (flow) => {
      // Asked in a round, while somebody is there.
      const { period } = await flow.form('period', { message: 'A report of which period?', schema: Period });

      // From here on the client has a task, and whoever called may leave.
      await flow.detach({ message: 'Waiting for a worker', pollInterval: 200 });

      // At most once, whichever worker dies when.
      const number = await flow.once('number', takeNumber);

      // At least once: a worker that dies in it has recorded nothing, and the next one begins it again.
      const rows = await flow.step('rows', async ({ signal, heartbeat }) => {
        log('collecting');
        let found = 0;
        for (const [index, region] of REGIONS.entries()) {
          await sleep(REGION_MS, undefined, { signal });
          found += region.length * 100;
          // Shows the client that it goes on, and says to the other workers that this one is alive.
          await heartbeat(`Collected ${index + 1} of ${REGIONS.length} regions`);
          log('collected', { regions: index + 1 });
        }
        return found;
      });

      // Asked by the task, of whoever looks at it.
      if (!(await flow.confirm('approve', `Mail report ${number} with ${rows} rows to the board?`))) {
        return text(`Report ${number} was not mailed.`);
      }
      await flow.once('mail', () => mailReport(number));
      return text(`Report ${number} of ${period}: ${rows} rows, mailed to the board.`);
    },
  );

  return server;
}

function takeNumber(): number {
  const number = randomInt(1_000, 10_000);
  log('numbered', { number });
  return number;
}

async function mailReport(number: number): Promise<true> {
  await sleep(100);
  log('mailed', { number });
  return true;
}

function carrier() {
  if (DATABASE_URL === undefined) return { tasks: memoryTasks() };
  const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5_000 });
  // The database may be gone for a while; what needs it fails, and is tried again.
  pool.on('error', ({ message }) => log('database', { message }));
  return { tasks: postgresTasks({ pool, sweepEvery: 500 }), ledger: postgresLedger(pool) };
}

/** Says what happens, for the story to tell. */
export function log(event: string, fields: object = {}): void {
  console.log(JSON.stringify({ event, ...fields }));
}

function text(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
