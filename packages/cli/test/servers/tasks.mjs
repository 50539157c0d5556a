/**
 * A server whose calls become tasks in Postgres: a module for `parley worker`, and a program that makes tasks. Its
 * packages are those that were built.
 */
import { argv, env, pid } from 'node:process';
import { pathToFileURL } from 'node:url';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Parley } from 'mcp-parley';
import { postgresTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import * as z from 'zod';

const pool = new Pool({ connectionString: env.DATABASE_URL }).on('error', () => undefined);
const tasks = postgresTasks({ pool, schema: env.TASKS_SCHEMA, pollInterval: 100 });

export const parley = new Parley({ keys: env.PARLEY_KEYS, tasks });

export default function factory() {
  const mcp = new McpServer({ name: 'reports', version: '1.0.0' });
  parley.attach(mcp).registerTool('report', { task: 'required' }, async (flow) => {
    const by = await flow.step('by', () => (env.WORKS === 'yes' ? pid : 'no worker'));
    const { text } = await flow.form('q', { message: 'What?', schema: z.object({ text: z.string() }) });
    return { content: [{ type: 'text', text: `${text} by ${by}` }] };
  });
  return mcp;
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) serveStdio(factory);
