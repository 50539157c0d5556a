/**
 * An MCP server whose tools ask in the middle of a call. Start as many as you like under the same
 * PARLEY_KEYS: each of them can go on with a call that another one began, because none remembers any.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  McpServer,
  type AuthInfo,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import * as z from 'zod';

// Once a process: it holds the keys, and nothing of any call.
const parley = new Parley({ keys: process.env['PARLEY_KEYS'] });

const Target = z.object({ service: z.string(), environment: z.enum(['staging', 'production']) });
const Where = z.object({ region: z.enum(['eu-west', 'us-east', 'ap-south']) });
const How = z.object({
  replicas: z.int().min(1).max(20).default(3),
  strategy: z.enum(['rolling', 'canary']).default('rolling'),
});

// Once a request: the server is stateless.
const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'releases', version: '1.0.0' });
  const flows = parley.attach(server);

  flows.registerTool(
    'deploy',
    { description: 'Builds a service and deploys it where you say.', inputSchema: Target },
    async ({ service, environment }, flow) => {
      // Runs in the first round; later rounds get its result from the sealed state. It runs again only
      // for a client that goes back to a point before it.
      const build = await flow.step('build', () => startBuild(service));

      // Asked together, so both go out in one round.
      const [{ region }, { replicas, strategy }] = await Promise.all([
        flow.form('where', { message: 'Which region?', schema: Where }),
        flow.form('how', { message: 'How is it rolled out?', schema: How }),
      ]);

      // Asked in a round of its own, for it names what was answered before.
      const plan = `${build.id} to ${environment} in ${region}, ${replicas} replicas, ${strategy}`;
      if (!(await flow.confirm('go', `Deploy ${plan}?`))) return text('Not deployed.');

      const release = await flow.step('release', () => startRelease(build.id));
      return text(`Deployed ${plan}: release ${release.number}.`);
    },
  );

  flows.registerTool(
    'rollback',
    // A rollback that was decided long ago is not wanted any more: its questions expire after a second.
    { description: 'Takes the last release back.', inputSchema: Target, ttl: 1_000 },
    async ({ service, environment }, flow) => {
      const sure = await flow.confirm('sure', `Roll ${service} back on ${environment}?`);
      return text(sure ? `Rolled ${service} back.` : 'Nothing was changed.');
    },
  );

  return server;
});

/** Stands for the work of minutes that nobody wants to do twice. */
async function startBuild(service: string): Promise<{ id: string }> {
  await sleep(300);
  const id = `${service}-${randomBytes(4).toString('hex')}`;
  log('built', { id });
  return { id };
}

async function startRelease(build: string): Promise<{ number: number }> {
  await sleep(100);
  log('released', { build });
  return { number: 42 };
}

/** Stands for the check of an access token. Whom it speaks for is bound into every state. */
function verify(header: string | null): AuthInfo | undefined {
  const token = /^Bearer (alice|bob)$/.exec(header ?? '')?.[1];
  if (token === undefined) return undefined;
  return { token, clientId: 'demo', scopes: [], extra: { iss: 'https://login.example', sub: token } };
}

async function serve(request: Request): Promise<Response> {
  const authInfo = verify(request.headers.get('authorization'));
  if (authInfo !== undefined) return mcp.fetch(request, { authInfo });
  return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
}

// The cast is for `exactOptionalPropertyTypes` alone; without that option it is not needed.
const http = createServer(toNodeHandler({ fetch: serve }) as RequestListener);
http.listen(0, '127.0.0.1', () => log('listening', { port: (http.address() as AddressInfo).port }));

// The client never learns why a state was refused. The log does.
for (const event of ['suspended', 'completed', 'rejected'] as const) {
  parley.on(event, (fields) => log(event, fields));
}

function log(event: string, fields: object): void {
  console.log(JSON.stringify({ event, ...fields }));
}

function text(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

// Started by the demo, it ends with it, however the demo ends.
process.once('disconnect', () => process.exit());
