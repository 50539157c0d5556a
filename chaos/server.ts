/**
 * One server process of the fleet: two MCP endpoints, one on each ledger, with the same tool. It is killed and
 * started again all the time, so nothing that matters may be in its memory.
 */
import { openSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type AuthInfo } from '@modelcontextprotocol/server';
import { Parley, type Ledger, type McpFlow } from 'mcp-parley';
import { postgresLedger } from 'mcp-parley/ledger/postgres';
import { redisLedger } from 'mcp-parley/ledger/redis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import * as z from 'zod';
import { appendEffect, insertRedemption, type Effect } from './effects.js';
import { Random } from './random.js';
import { Saboteur } from './saboteur.js';
import {
  confirmation,
  type Endpoint,
  type RedeemArguments,
  type Redemption,
  type ServerMessage,
} from './wire.js';

/** Short, so that what died is given up, and what is down is noticed, many times within a run. In ms. */
const TIMES = { lease: 1_200, patience: 1_500, ledgerTimeout: 600 } as const;

/** Longest pause around an effect, in ms: room for a kill to fall into. */
const PAUSE_MS = 6;

const Arguments = z.object({
  person: z.string(),
  coupon: z.string(),
  effective: z.enum(['log', 'transaction']),
});
const Note = z.object({ note: z.string() });

/** Standing still for so long is told: a third of a lease, after which it is extended. */
const LAG_MS = TIMES.lease / 3;

const life = setting('CHAOS_LIFE');
const log = openSync(setting('CHAOS_EFFECTS'), 'a');
const random = new Random(`${setting('CHAOS_SEED')}/life/${life}`);

const redis = createClient({
  url: setting('CHAOS_REDIS'),
  socket: { reconnectStrategy: () => 50, connectTimeout: 500 },
});
redis.on('error', () => undefined); // it is stopped on purpose, and connects again by itself
redis.connect().catch(() => undefined);

const pool = new Pool({ connectionString: setting('CHAOS_POSTGRES'), max: 12, connectionTimeoutMillis: 500 });
pool.on('error', () => undefined);
const postgres = postgresLedger(
  new Saboteur('postgres', random.fork('postgres'), tell).spoil(pool, ['query'], 'connect'),
);

const endpoints: Readonly<Record<Endpoint, (request: Request) => Promise<Response>>> = {
  redis: endpoint(
    'redis',
    redisLedger(new Saboteur('redis', random.fork('redis'), tell).spoil(redis, ['eval', 'evalSha'])),
  ),
  postgres: endpoint('postgres', postgres),
};

/** An MCP endpoint with a Parley of its own. */
function endpoint(name: Endpoint, ledger: Ledger): (request: Request) => Promise<Response> {
  const parley = new Parley({
    keys: setting('PARLEY_KEYS'),
    ledger,
    singleUse: true,
    ...TIMES,
    logger: { warn: (text) => tell({ type: 'warning', text }) },
  });
  parley.on('rejected', ({ reason }) => tell({ type: 'rejected', reason }));
  parley.on('repeated', () => tell({ type: 'repeated' }));
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: `chaos-${name}`, version: '1.0.0' });
    parley.attach(server).registerTool('redeem', { inputSchema: Arguments }, async (args, flow) => {
      const redemption = await redeem(args, flow);
      return { content: [{ type: 'text', text: JSON.stringify(redemption) }] };
    });
    return server;
  });
  return (request) => mcp.fetch(request, { authInfo: verify(request.headers.get('authorization')) });
}

/** The flow: answer, step, a limited coupon, answer, a mail, end. */
async function redeem(args: RedeemArguments, flow: McpFlow): Promise<Redemption> {
  const { person, coupon } = args;
  const { note } = await flow.form('note', { message: `A note, ${person}?`, schema: Note });
  const { ticket } = await flow.step('ticket', () => ({ ticket: crypto.randomUUID() }));
  const effect = (kind: Effect['kind'], key: Effect['key']): Effect => {
    return { kind, key, coupon, flow: flow.id, person, note, life, at: Date.now() };
  };
  const { winner } = await flow.once('redeem', redemption(args, effect, flow.id), { id: coupon });
  const sure = await flow.confirm('sure', confirmation(ticket));
  if (!sure) throw new Error('Nobody says no here.');
  await flow.once('mail', async () => {
    appendEffect(log, effect('begin', 'mail'));
    await pause();
    appendEffect(log, effect('mail', 'mail'));
    await pause();
  });
  return { flow: flow.id, coupon, winner, won: winner === flow.id, person, note, ticket };
}

/** The work that may be done once for a coupon. */
function redemption(
  { effective }: RedeemArguments,
  effect: (kind: Effect['kind'], key: Effect['key']) => Effect,
  winner: string,
): () => { winner: string } | Promise<{ winner: string }> {
  if (effective === 'transaction') {
    return postgres.transaction(async (client) => {
      await pause();
      await insertRedemption(client, effect('redeem', 'redeem'));
      await pause();
      return { winner };
    });
  }
  return async () => {
    appendEffect(log, effect('begin', 'redeem'));
    await pause();
    appendEffect(log, effect('redeem', 'redeem'));
    await pause();
    return { winner };
  };
}

async function pause(): Promise<void> {
  await sleep(random.int(0, PAUSE_MS));
}

/** Stands for the check of an access token. */
function verify(header: string | null): AuthInfo {
  const sub = (header ?? '').replace(/^Bearer /, '');
  return { token: sub, clientId: 'chaos', scopes: [], extra: { iss: 'https://login.example', sub } };
}

async function serve(request: Request): Promise<Response> {
  const name = new URL(request.url).pathname.slice(1);
  return name === 'redis' || name === 'postgres'
    ? await endpoints[name](request)
    : new Response(null, { status: 404 });
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this is started by chaos/run.ts.`);
  return value;
}

function tell(message: ServerMessage): void {
  process.send?.(message);
}

// The cast is for `exactOptionalPropertyTypes` alone; see examples/demo/server.ts.
const http = createServer(toNodeHandler({ fetch: serve }) as RequestListener);
http.keepAliveTimeout = 120_000; // longer than nginx keeps its connections, so that the two never race
http.listen(Number(setting('CHAOS_PORT')), '127.0.0.1', () => tell({ type: 'listening' }));

// What this process cannot help: a lease that lapses because nobody here had a turn in time.
let turn = Date.now();
setInterval(() => {
  const [from, to] = [turn, Date.now()];
  if (to - from > LAG_MS) tell({ type: 'lag', life, from, to });
  turn = to;
}, 50);

// Started by the runner, it ends with it, however that ends.
process.once('disconnect', () => process.exit());
if (!process.connected) process.exit();
