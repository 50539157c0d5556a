import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { memoryLedger, Parley, type Ledger } from 'mcp-parley';
import { migrateLedger, postgresLedger } from 'mcp-parley/ledger/postgres';
import { redisLedger } from 'mcp-parley/ledger/redis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import * as z from 'zod';
import { startPostgres, startRedis } from '../../test/services/index.js';
import { firstRound, HEADERS, secondBody, secondRound, type Send } from '../fixtures/deploy-client.js';
import { KEY } from '../fixtures/parts.js';
import type { Row } from '../harness/row.js';

const INPUT = z.object({ service: z.string(), environment: z.string(), replicas: z.number() });
const ANSWER = z.object({ region: z.enum(['eu', 'us']) });

/** The tool of the other rows; its second round is single-use where there is a ledger. */
function sendTo(ledger: Ledger | undefined): Send {
  const parley = new Parley({ keys: KEY, ledger, singleUse: ledger !== undefined });
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'bench', version: '1.0.0' });
    parley.attach(mcp).registerTool('deploy', { inputSchema: INPUT }, async ({ service }, flow) => {
      const build = await flow.step('build', () => ({ id: `${service}-1` }));
      const { region } = await flow.form('region', {
        message: `Where to deploy ${build.id}?`,
        schema: ANSWER,
      });
      return { content: [{ type: 'text', text: `Deployed ${build.id} in ${region}.` }] };
    });
    return mcp;
  });
  return async (body) => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: HEADERS, body });
    return (await handler.fetch(request)).text();
  };
}

export default {
  title: 'A single-use round: first and second round of a flow, the second claimed and settled in a ledger',
  leavesOut: 'a network between server and store: Redis and Postgres run on loopback, Postgres without fsync',
  async measure(bench) {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
    const client = createClient({ url: redis.url, disableOfflineQueue: true });
    const pool = new Pool({ connectionString: postgres.url, max: 16 });
    pool.on('error', () => undefined);
    try {
      await client.connect();
      await migrateLedger(pool);
      const sends = {
        'no ledger': sendTo(undefined),
        memory: sendTo(memoryLedger({ maxRecords: 10_000_000 })),
        redis: sendTo(redisLedger(client)),
        postgres: sendTo(postgresLedger(pool)),
      };
      for (const concurrency of bench.quick ? [16] : [1, 16]) {
        const subjects: Record<string, () => Promise<void>> = {};
        for (const [name, send] of Object.entries(sends)) {
          subjects[name] = async () => await secondRound(send, secondBody(await firstRound(send)));
        }
        await bench.compare(`both rounds, ${concurrency} at a time`, subjects, { concurrency });
      }
    } finally {
      await client.close().catch(() => undefined);
      await pool.end();
      await Promise.all([redis.dispose(), postgres.dispose()]);
    }
  },
} satisfies Row;
