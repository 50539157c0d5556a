import { createMcpHandler, McpServer, inputRequired, acceptedContent, inputResponse, createRequestStateCodec, ProtocolError } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Parley } from 'mcp-parley';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { it } from 'vitest';
import { audit } from '../../src/audit/audit.js';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { HttpWire } from '../../src/audit/wire/http-wire.js';
import { listen, serve } from '../servers/http.js';
import { serveWithUsers, text } from '../servers/transfers.js';
import { flowsServer } from '../servers/flows.js';
import { startServer } from '../servers/harness.js';
import { setTimeout as sleep } from 'node:timers/promises';

async function run(name: string, url: string, tool: string, users = true, args?: any) {
  const t = performance.now();
  const callers = users ? ({ main: [['Authorization', 'Bearer alice']], other: [['Authorization', 'Bearer bob']] } as const) : {};
  try {
    const r = await audit({ target: url, wire: new HttpWire({ url, callers, timeoutMs: 5000 }), version: '0', attacks: ATTACKS,
      subject: { tool, callers: new Set(users ? (['main', 'other', 'anonymous'] as const) : (['main'] as const)), ...(args && { arguments: args }) } });
    console.log(`### ${name}: ${r.rounds} rounds ${r.requests} req ${Math.round(performance.now() - t)} ms`);
    for (const { attack, findings } of r.results) for (const f of findings)
      if (f.verdict === 'unclear' || ((f.verdict === 'weak' || f.verdict === 'broken') && f.severity !== 'note'))
        console.log(`   ${attack.id} r${f.round} ${f.verdict} ${f.severity}: ${f.found} ${f.verdict === 'unclear' ? '' : JSON.stringify([f.evidence?.request.params, f.evidence?.reply]).slice(0, 500)}`);
  } catch (e) { console.log(`### ${name}: THROWN ${String(e)}`); }
}
const parley = new Parley({ keys: randomBytes(32), logger: { warn: () => undefined } });
function flowTool(fn: any, input: any = undefined) {
  return serveWithUsers(createMcpHandler(() => {
    const mcp = new McpServer({ name: 'x', version: '1.0.0' });
    parley.attach(mcp).registerTool('t', input ? { inputSchema: input } : {}, fn);
    return mcp;
  }));
}
const only = process.env['ONLY'];
const test = (n: string, f: () => Promise<void>) => (only === undefined || n.includes(only)) && it(n, f, 120_000);

test('flows', async () => {
  const s = await serve(flowsServer('k1:' + randomBytes(32).toString('base64url')).bind(null) as any).catch((e) => { console.log(e); throw e; });
  for (const tool of ['sign-in', 'two', 'deploy']) await run('flows ' + tool, s.url, tool, false, tool === 'deploy' ? { env: 'prod' } : undefined);
  await s.close();
});
test('sampling', async () => {
  const s = await flowTool(async (flow: any) => { const m = await flow.createMessage('s', { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 }); return text('ok ' + m.model); });
  await run('sampling', s.url, 't'); await s.close();
});
test('roots', async () => {
  const s = await flowTool(async (flow: any) => { const m = await flow.listRoots('r'); return text('ok ' + m.length); });
  await run('roots', s.url, 't'); await s.close();
});
test('optional', async () => {
  const s = await flowTool(async (flow: any) => { const m = await flow.form('o', { message: 'Anything?', schema: z.object({ a: z.string().optional(), b: z.int().optional() }) }); return text('ok ' + JSON.stringify(m)); });
  await run('optional', s.url, 't'); await s.close();
});
test('multi', async () => {
  const s = await flowTool(async (flow: any) => { const m = await flow.form('o', { message: 'Which?', schema: z.object({ a: z.array(z.enum(['x', 'y', 'z'])).min(1).max(2) }) }); return text('ok ' + JSON.stringify(m)); });
  await run('multi', s.url, 't'); await s.close();
});
test('waitFor', async () => {
  const ends = new Map<string, number>();
  const s = await flowTool(async (flow: any) => {
    await flow.elicitUrl('page', { message: 'Sign in', url: 'https://login.example.com/x?id=' + flow.id });
    const login = await flow.waitFor('c', () => { const n = (ends.get(flow.id) ?? 0) + 1; ends.set(flow.id, n); return n > 2 ? 'ann' : undefined; }, { hold: 50, every: 20 });
    if (!(await flow.confirm('go', 'Go?'))) return text('no');
    return text('yes ' + login);
  });
  await run('waitFor', s.url, 't'); await s.close();
});
test('someargs', async () => {
  const s = await flowTool(async ({ force, n }: any, flow: any) => { if (force) return text('done at once'); if (!(await flow.confirm('go', `Go ${n}?`))) return text('no'); return text('yes'); }, z.object({ force: z.boolean().default(false), n: z.int().default(1) }));
  await run('someargs', s.url, 't'); await s.close();
});
test('url-then-form', async () => {
  const s = await flowTool(async (flow: any) => { await flow.elicitUrl('page', { message: 'See', url: 'https://x.example.com/a' }); const { a } = await flow.form('f', { message: 'Name?', schema: z.object({ a: z.string() }) }); return text('hi ' + a); });
  await run('url-then-form', s.url, 't'); await s.close();
});
test('samekey', async () => {
  const s = await flowTool(async (flow: any) => { for (let i = 0; i < 3; i++) await flow.form('item-' + i, { message: `Item ${i}?`, schema: z.object({ a: z.string() }) }); return text('ok'); });
  await run('samekey', s.url, 't'); await s.close();
});
test('tasks', async () => {
  const s = await startServer({ finish: (r: any) => r.result?.resultType === 'complete' && r.result.content && r.result.content[0]?.text?.startsWith?.('Paid') ? { ...r, result: { resultType: 'task', task: { taskId: 'x', status: 'working' } } } : r } as any);
  await run('task', s.url, 'transfer', true, { account: 'current' }); await s.close();
});
test('429', async () => {
  let n = 0;
  const s = await startServer({ finish: (r: any) => (n++ > 3 && n % 5 === 0 ? { status: 429, error: { code: -32000, message: 'Too many requests' } } : r) } as any);
  await run('429 each fifth', s.url, 'transfer', true, { account: 'current' }); await s.close();
});
test('401', async () => {
  const s = await startServer({ finish: (r: any, q: any) => (q.user === null ? { status: 401 } : r) } as any);
  await run('401', s.url, 'transfer', true, { account: 'current' }); await s.close();
});
test('isError', async () => {
  const s = await startServer({ onBadState: () => ({ result: { resultType: 'complete', isError: true, content: [{ type: 'text', text: 'Bad or expired state.' }] } }) } as any);
  await run('isError', s.url, 'transfer', true, { account: 'current' }); await s.close();
});
test('slow', async () => {
  const base = await startServer();
  const s = await listen(async (q, r) => {
    const chunks: Buffer[] = []; for await (const c of q) chunks.push(c as Buffer);
    await sleep(300);
    const h = { ...q.headers } as any; delete h['content-length']; delete h.host; delete h.connection;
    const a = await fetch(base.url, { method: 'POST', headers: h, body: Buffer.concat(chunks) }).catch(() => undefined);
    if (!a) return void r.destroy();
    r.writeHead(a.status, { 'content-type': a.headers.get('content-type') ?? 'text/plain' }); r.end(Buffer.from(await a.arrayBuffer()));
  });
  await run('slow', s.url, 'transfer', true, { account: 'current' }); await s.close(); await base.close();
});
// A hand-written SDK tool: state-only polling with sealed state by codec
test('handpoll', async () => {
  type S = { flow: string; n: number; of: string };
  const codec = createRequestStateCodec<S>({ key: randomBytes(32), bind: ({ mcpReq, http }: any) => JSON.stringify([mcpReq.method, http?.authInfo?.extra?.sub ?? null]) });
  const s = await serveWithUsers(createMcpHandler(() => {
    const mcp = new McpServer({ name: 'x', version: '1' }, { requestState: { verify: (st, c) => codec.verify(st, c) } });
    mcp.registerTool('t', { inputSchema: z.object({ a: z.int().default(1) }) }, async ({ a }, ctx: any) => {
      const st = ctx.mcpReq.requestState() as S | undefined; const of = JSON.stringify(['t', a]);
      if (st && st.of !== of) throw new ProtocolError(-32602, 'Invalid or expired requestState', { reason: 'invalid_request_state' });
      if (!st) return inputRequired({ inputRequests: {}, requestState: await codec.mint({ flow: crypto.randomUUID(), n: 1, of }, ctx) } as any);
      if (st.n < 3) return inputRequired({ requestState: await codec.mint({ ...st, n: st.n + 1 }, ctx) } as any);
      return text('done');
    });
    return mcp;
  }));
  await run('handpoll', s.url, 't'); await s.close();
});
