/** One process: it serves requests, and runs tasks. It is killed and started again all the time. */
import { openSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { OutcomeUnknown, Parley, type McpFlow } from 'mcp-parley';
import { postgresLedger } from 'mcp-parley/ledger/postgres';
import { postgresTasks } from 'mcp-parley/tasks/postgres';
import { startWorker } from 'mcp-parley/tasks';
import { Pool } from 'pg';
import * as z from 'zod';
import { Random } from '../random.js';
import type { ServerMessage } from '../wire.js';
import { appendDeed, insertDeed, type Deed } from './effects.js';
import { questionOf, SHORTEST, type ErrandArguments, type ErrandResult } from './wire.js';

/** Short, so that what died is taken over many times within a run. In ms. */
const LEASE_MS = 1_500;

/** How often a process dies in a piece of work, before its effect, and after. */
const DEATHS = 0.002;

/** Longest that a piece of work takes on purpose, in ms: room for a kill to fall into. */
const WORK_MS = 25;

const Arguments = z.object({
  label: z.string(),
  together: z.boolean(),
  effective: z.enum(['log', 'transaction']),
});
const Word = z.object({ word: z.string().min(SHORTEST) });

const life = setting('CHAOS_LIFE');
const log = openSync(setting('CHAOS_EFFECTS'), 'a');
const random = new Random(`${setting('CHAOS_SEED')}/life/${life}`);

const pool = new Pool({ connectionString: setting('CHAOS_POSTGRES'), max: 14 });
pool.on('error', (error) => warn(error.message));
const ledger = postgresLedger(pool);

const parley = new Parley({
  keys: setting('PARLEY_KEYS'),
  ledger,
  lease: LEASE_MS,
  tasks: postgresTasks({
    pool,
    pollInterval: 100,
    sweepEvery: 500,
    onError: (error) => warn(error instanceof Error ? error.message : 'unknown error'),
  }),
  logger: { warn },
});

function makeServer(): McpServer {
  const server = new McpServer({ name: 'chaos-tasks', version: '1.0.0' });
  parley.attach(server).registerTool('errand', { inputSchema: Arguments }, async (args, flow) => {
    return { content: [{ type: 'text', text: JSON.stringify(await errand(args, flow)) }] };
  });
  return server;
}

/** A round, then as a task: three steps, two questions, and an effect that must not be doubled. */
async function errand({ label, together, effective }: ErrandArguments, flow: McpFlow): Promise<ErrandResult> {
  const step = (key: string): Promise<string> =>
    flow.step(key, () => labour({ kind: 'step', ...who(label, flow) }));
  const ask = async (key: string, made: string): Promise<string> => {
    const { word } = await flow.form(key, { message: questionOf(label, key, made), schema: Word });
    return word;
  };
  await flow.confirm('begin', `Begin ${label}?`);
  await flow.detach({ message: label });
  const steps = [await step('a')];
  const words: string[] = [];
  if (together)
    words.push(...(await Promise.all(['first', 'second'].map((key) => ask(key, steps[0] ?? '')))));
  else words.push(await ask('first', steps[0] ?? ''));
  steps.push(await step('b'));
  if (!together) words.push(await ask('second', steps[1] ?? ''));
  const effect = await once({ kind: 'effect', ...who(label, flow) }, effective, flow);
  steps.push(await step('c'));
  return { label, flow: flow.id, steps, words, effect };
}

async function once(
  deed: Deed,
  effective: ErrandArguments['effective'],
  flow: McpFlow,
): Promise<ErrandResult['effect']> {
  const inTransaction = ledger.transaction(async (client) => {
    await pause();
    await insertDeed(client, deed);
    await pause();
    return '';
  });
  try {
    await (effective === 'log'
      ? flow.once('effect', () => labour(deed))
      : flow.once('effect', inTransaction));
    return 'done';
  } catch (error) {
    if (error instanceof OutcomeUnknown) return 'unknown';
    throw error;
  }
}

function who(label: string, { id }: McpFlow): Pick<Deed, 'label' | 'flow' | 'life'> {
  return { label, flow: id, life };
}

/** Work that is seen from outside. */
async function labour(deed: Deed): Promise<string> {
  await pause();
  appendDeed(log, deed);
  await pause();
  return crypto.randomUUID();
}

/** As a crash: nothing is put in order, and nothing told. The runner sees it, and starts another process. */
async function pause(): Promise<void> {
  if (random.chance(DEATHS)) process.kill(process.pid, 'SIGKILL');
  await sleep(random.int(0, WORK_MS / 2));
}

function warn(text: string): void {
  tell({ type: 'warning', text });
}

function tell(message: ServerMessage): void {
  process.send?.(message);
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this is started by chaos/run.ts.`);
  return value;
}

await startWorker(parley, makeServer, { concurrency: 8 });
const mcp = createMcpHandler(makeServer);
// The cast is for `exactOptionalPropertyTypes` alone; see examples/demo/server.ts.
const http = createServer(
  toNodeHandler({ fetch: (request: Request) => mcp.fetch(request) }) as RequestListener,
);
http.listen(Number(setting('CHAOS_PORT')), '127.0.0.1', () => tell({ type: 'listening' }));

// Started by the runner, it ends with it, however that ends.
process.once('disconnect', () => process.exit());
if (!process.connected) process.exit();
