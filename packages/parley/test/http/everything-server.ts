import {
  completable,
  inputRequired,
  McpServer,
  ProtocolError,
  requireScopes,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Parley } from '../../src/index.js';
import { memoryTasks } from '../../src/tasks/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { gate } from './pooled-server.js';

/** A server that has one of everything. */
export interface EverythingServer {
  /** Takes no context, so it depends on no request. */
  readonly factory: () => McpServer;
  /** How often the factory was called. */
  readonly calls: () => number;
}

const parley = new Parley({ keys: TEST_KEY, tasks: memoryTasks(), logger: { warn: () => {} } });

function text(value: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(value) ?? 'undefined' }] };
}

/**
 * Makes the factory.
 *
 * @param gathered how many calls of its tool `gather` wait for each other, so that each has an instance of its own.
 */
export function everythingServer(gathered = 0): EverythingServer {
  let calls = 0;
  let missing = gathered;
  const all = gate();
  const factory = (): McpServer => {
    calls += 1;
    const mcp = new McpServer(
      { name: 'everything', version: '1.0.0' },
      { capabilities: { logging: {} }, instructions: 'Ask.' },
    );
    const flows = parley.attach(mcp);
    registerPlain(mcp);
    registerEchoes(mcp);
    registerLoud(mcp);
    registerGuarded(mcp);
    registerReading(mcp);
    mcp.registerTool('gather', {}, async () => {
      missing -= 1;
      if (missing <= 0) all.open();
      await all.opened;
      return text('all are here');
    });

    mcp.registerTool('ask', { inputSchema: z.object({ who: z.string() }) }, ({ who }, { mcpReq }) => {
      const state = mcpReq.requestState<string>();
      if (state !== undefined) return text({ state, answers: mcpReq.inputResponses });
      const requestedSchema = { type: 'object' as const, properties: { age: { type: 'number' as const } } };
      return inputRequired({
        inputRequests: { age: inputRequired.elicit({ message: `Age of ${who}?`, requestedSchema }) },
        requestState: `asked ${who}`,
      });
    });
    flows.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, flow) => {
      const build = await flow.step('build', () => `${env}-1`);
      const { region } = await flow.form('region', {
        message: `Where to deploy ${build}?`,
        schema: z.object({ region: z.enum(['eu', 'us']) }),
      });
      const sure = await flow.confirm('go', `Deploy to ${region}?`);
      return text({ build, region, sure, round: flow.round });
    });
    flows.registerTool('think', {}, async (flow) => text(await flow.createMessage('thought', SAMPLING)));
    flows.registerTool('later', { task: 'required' }, async (flow) => text(await flow.step('work', () => 1)));
    flows.registerPrompt('letter', {}, async (flow) => {
      const { to } = await flow.form('to', { message: 'To whom?', schema: z.object({ to: z.string() }) });
      return { messages: [{ role: 'user', content: { type: 'text', text: `Write to ${to}.` } }] };
    });
    flows.registerResource('secret', 'test://secret', {}, async (uri, flow) => {
      const isSure = await flow.confirm('show', 'Show it?');
      return { contents: [{ uri: uri.href, text: isSure ? 'secret' : '-' }] };
    });
    return mcp;
  };
  return { factory, calls: () => calls };
}

const SAMPLING = {
  maxTokens: 10,
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Think.' } }],
};

/** Results of all kinds, wrong ones too. */
function registerPlain(mcp: McpServer): void {
  mcp.registerTool('echo', { inputSchema: z.looseObject({}) }, (args) => text(args));
  mcp.registerTool('nothing', {}, () => ({ content: [] }));
  mcp.registerTool('typed', { inputSchema: z.object({ n: z.int().min(0) }) }, ({ n }) => text(n));
  mcp.registerTool('sum', { outputSchema: z.object({ sum: z.number() }) }, () => ({
    content: [],
    structuredContent: { sum: 3 },
  }));
  mcp.registerTool('bad-output', { outputSchema: z.object({ sum: z.number() }) }, () => ({
    content: [],
    structuredContent: { sum: 'three' },
  }));
  mcp.registerTool('large', {}, () => text('ü€😀'.repeat(20_000)));
  mcp.registerTool('is-error', {}, () => ({ ...text('failed'), isError: true }));
  mcp.registerTool('throws', {}, () => {
    throw new Error('thrown');
  });
  mcp.registerTool('throws-protocol', {}, () => {
    throw new ProtocolError(-32_099, 'of its own', { why: 'because' });
  });
  mcp.registerTool('no-result', {}, () => ({ contents: 'none' }) as never);
  // Low-level handlers: what they throw becomes an error of the protocol, whatever its code.
  const params = z.looseObject({});
  mcp.server.setRequestHandler('acme/echo', { params }, (given) => ({ given }));
  mcp.server.setRequestHandler('acme/fail', { params: z.object({ code: z.number() }) }, ({ code }) => {
    throw new ProtocolError(code, `failed with ${code}`, { code });
  });
  mcp.server.setRequestHandler('acme/name', { params: z.looseObject({}) }, ({ name }) => ({ name }));
}

/** What handlers see of a request. */
function registerEchoes(mcp: McpServer): void {
  const seen = ({ mcpReq, http, sessionId }: ServerContext) => ({
    id: mcpReq.id,
    method: mcpReq.method,
    meta: mcpReq._meta,
    envelope: mcpReq.envelope,
    answers: mcpReq.inputResponses,
    state: typeof mcpReq.requestState(),
    aborted: mcpReq.signal.aborted,
    members: Object.keys(mcpReq).toSorted(),
    sessionId,
    auth: http?.authInfo,
    // What a copy has, which a handler may hand on.
    http: http && Object.keys({ ...http }).toSorted(),
    url: http?.req?.url,
    verb: http?.req?.method,
    headers: http?.req && [...http.req.headers].filter(([name]) => name !== 'transfer-encoding'),
    client: mcp.server.getClientCapabilities(),
    version: mcp.server.getClientVersion(),
    revision: mcp.server.getNegotiatedProtocolVersion(),
    isConnected: mcp.isConnected(),
  });
  mcp.registerTool('seen', {}, (ctx) => text(seen(ctx)));
  mcp.server.setRequestHandler('acme/seen', { params: z.looseObject({}) }, (_, ctx) => seen(ctx));
}

/** Handlers that send more than a response. */
function registerLoud(mcp: McpServer): void {
  mcp.registerTool('progress', {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 'none';
    for (const progress of [1, 2]) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2 },
      });
    }
    return text('done');
  });
  mcp.registerTool('log', {}, async ({ mcpReq }) => {
    await mcpReq.log('debug', 'fine');
    await mcpReq.log('error', { it: 'failed' }, 'tool');
    return text('logged');
  });
  mcp.registerTool('progress-then-throw', {}, async ({ mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    throw new Error('thrown late');
  });
  mcp.registerTool('progress-then-ask', {}, async ({ mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    return inputRequired({ inputRequests: { r: inputRequired.listRoots() } });
  });
  mcp.registerTool('to-nobody', {}, async () => {
    await mcp.server.sendLoggingMessage({ level: 'error', data: 'not part of any request' });
    return text('sent');
  });
  // 2026 refuses it. In 2025 a stateless client cannot answer, so it must not wait long.
  mcp.registerTool('push', {}, async () => text(await mcp.server.listRoots({}, { timeout: 20 })));
  mcp.registerTool('unknown-notification', {}, async ({ mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/elicitation/complete', params: { elicitationId: 'e' } });
    return text('sent');
  });
}

/** What only some may have, and arguments that travel in headers too. */
function registerGuarded(mcp: McpServer): void {
  const scopeChallenge = requireScopes('admin');
  mcp.registerTool('admin', { scopeChallenge }, () => text('for admins'));
  mcp.registerTool('admin-later', { scopeChallenge: async (c) => scopeChallenge(c) }, () =>
    text('for admins'),
  );
  mcp.registerTool('admin-broken', { scopeChallenge: () => ({ scopes: ['no scope'] }) }, () => text('never'));
  mcp.registerPrompt('admin', { scopeChallenge }, () => ({ messages: [] }));
  mcp.registerResource('admin', 'test://admin', { scopeChallenge }, () => ({ contents: [] }));
  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  mcp.registerTool('copied', { inputSchema: z.object({ region: region.optional() }) }, (args) => text(args));
}

/** Prompts, resources, completion. */
function registerReading(mcp: McpServer): void {
  const city = completable(z.string(), (value) =>
    ['Rome', 'Riga', 'Oslo'].filter((name) => name.startsWith(value)),
  );
  mcp.registerPrompt('greet', { argsSchema: z.object({ city }) }, (args) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${args.city}.` } }],
  }));
  mcp.registerResource('readme', 'test://readme', { title: 'Read me' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'Read.' }],
  }));
  const template = new ResourceTemplate('test://user/{id}', {
    list: () => ({ resources: [{ name: 'one', uri: 'test://user/1' }] }),
    complete: { id: (value) => [`${value}1`, `${value}2`] },
  });
  mcp.registerResource('user', template, {}, (uri, { id }) => ({
    contents: [{ uri: uri.href, text: String(id) }],
  }));
}
