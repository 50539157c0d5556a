import { execFileSync } from 'node:child_process';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpWire } from '../../../src/audit/wire/http-wire.js';
import type { JsonObject, WireRequest } from '../../../src/audit/wire/message.js';
import { listen, type Loopback } from '../../servers/http.js';

const open: Loopback[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Seen {
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly id: number; readonly method: string; readonly params: JsonObject };
}

/** A server that is all script, and what it saw. */
async function target(
  script: (response: ServerResponse, seen: Seen) => void,
  { timeoutMs = 5000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const seen: Seen[] = [];
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Seen['body'];
    seen.push({ headers: request.headers, body });
    script(response, { headers: request.headers, body });
  });
  open.push(server);
  const wire = new HttpWire({
    url: server.url,
    callers: { main: [['Authorization', 'Bearer secret-of-main']], other: [['X-Key', 'secret-of-other']] },
    timeoutMs,
    ...(signal !== undefined && { signal }),
  });
  return { wire, seen, url: server.url };
}

function json(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const REQUEST: WireRequest = { method: 'tools/call', params: { name: 'pay' }, caller: 'main' };

describe('what is sent', () => {
  it('has the headers of the protocol and of the caller, and an id of its own (METH-08, METH-10, METH-11)', async () => {
    const { wire, seen } = await target((response, { body }) =>
      json(response, { jsonrpc: '2.0', id: body.id, result: { ok: true } }),
    );
    const first = await wire.send(REQUEST);
    await wire.send({ ...REQUEST, caller: 'other' });
    await wire.send({ ...REQUEST, caller: 'anonymous', method: 'resources/read', params: { uri: 'a://b' } });
    expect(first).toMatchObject({ status: 200, result: { ok: true }, serverRequests: [] });
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'pay',
      authorization: 'Bearer secret-of-main',
    });
    expect(seen[1]?.headers['x-key']).toBe('secret-of-other');
    expect(seen[1]?.headers.authorization).toBeUndefined();
    expect(seen[2]?.headers).toMatchObject({ 'mcp-method': 'resources/read', 'mcp-name': 'a://b' });
    expect(seen[2]?.headers).not.toHaveProperty('authorization');
    expect(new Set(seen.map(({ body }) => body.id)).size).toBe(3);
  });

  it.each([
    ['zahlen-ü', '=?base64?emFobGVuLcO8?='],
    [' pay', '=?base64?IHBheQ==?='],
    ['=?base64?cGF5?=', '=?base64?PT9iYXNlNjQ/Y0dGNT89?='],
    ['', '=?base64??='],
  ])('has the name %j encoded (METH-15)', async (name, header) => {
    const { wire, seen } = await target((response) => json(response, {}));
    await wire.send({ ...REQUEST, params: { name } });
    expect(seen[0]?.headers['mcp-name']).toBe(header);
  });

  it('has headers as an attack wants them: another, one more, one left out', async () => {
    const { wire, seen } = await target((response) => json(response, {}));
    const headers = { 'mcp-method': 'tools/list', 'Mcp-Name': null, 'X-More': '1', authorization: null };
    await wire.send({ ...REQUEST, headers });
    expect(seen[0]?.headers).toMatchObject({ 'mcp-method': 'tools/list', 'x-more': '1' });
    expect(seen[0]?.headers).not.toHaveProperty('mcp-name');
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('has own members __proto__, and arrays in arrays ten thousand deep', async () => {
    const { wire, seen } = await target((response) => json(response, {}));
    const params = JSON.parse('{"inputResponses":{"__proto__":{"a":1}}}') as JsonObject;
    await wire.send({ ...REQUEST, params });
    expect(JSON.stringify(seen[0]?.body.params)).toBe(JSON.stringify(params));
    const deep = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`) as JsonObject;
    const reply = await wire.send({ ...REQUEST, params: { deep } });
    expect(reply).toMatchObject({ status: 200 });
  });
});

describe('what comes back', () => {
  it('is read from a stream: the response among notifications, and requests that must not be there', async () => {
    const { wire } = await target((response, { body: { id } }) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
      const event = (message: unknown): string =>
        `event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`;
      response.write(': hello\n\n');
      response.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }));
      response.write(event({ jsonrpc: '2.0', id: 7, method: 'elicitation/create', params: {} }));
      response.write(event({ jsonrpc: '2.0', id: id + 1000, result: { of: 'another' } }));
      const last = event({ jsonrpc: '2.0', id, result: { text: 'ü' } });
      for (const byte of Buffer.from(last)) response.write(Buffer.from([byte]));
      // The stream stays open: it has served its purpose.
    });
    const reply = await wire.send(REQUEST);
    expect(reply).toMatchObject({ result: { text: 'ü' }, serverRequests: ['elicitation/create'] });
  });

  it('is an error, with an HTTP status, and without an id too', async () => {
    const error = { code: -32_020, message: 'no', data: { a: 1 } };
    const { wire } = await target((response) => json(response, { jsonrpc: '2.0', id: null, error }, 400));
    expect(await wire.send(REQUEST)).toMatchObject({ status: 400, error });
  });

  it('is a status by itself, where it refuses without JSON-RPC', async () => {
    const { wire } = await target((response) => json(response, 'Forbidden', 403));
    const { ms, ...reply } = await wire.send(REQUEST);
    expect(reply).toEqual({ status: 403, serverRequests: [] });
    expect(ms).toBeGreaterThan(0);
  });

  it.each([
    ['HTTP 500', (response: ServerResponse) => json(response, '<html>', 500)],
    ['HTTP 200, and no JSON-RPC', (response: ServerResponse) => json(response, '<html>')],
    [
      'a response to another request, or none at all',
      (response: ServerResponse) => json(response, { id: 999, result: {} }),
    ],
    [
      'a response with neither a result nor an error',
      (response: ServerResponse, { body }: Seen) => json(response, { id: body.id }),
    ],
    ['it closed the connection (ECONNRESET)', (response: ServerResponse) => response.destroy()],
    [
      'more than 8 MiB of response',
      (response: ServerResponse) => json(response, 'x'.repeat(9 * 1024 * 1024)),
    ],
    [
      'it redirects to https://elsewhere.example/mcp, which is not followed',
      (response: ServerResponse) =>
        json(response, '', 307, { Location: 'https://elsewhere.example/mcp?a=b' }),
    ],
    [
      'the stream ended without a response',
      (response: ServerResponse) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(),
    ],
  ])('is a failure: %s', async (failure, script) => {
    const { wire } = await target(script);
    expect((await wire.send(REQUEST)).failure).toBe(failure);
  });

  it('never shows a header of the request that the server sends back', async () => {
    const { wire } = await target((response, { headers }) =>
      json(response, '', 302, {
        Location: `https://x.example/${headers.authorization?.split(' ')[1] ?? ''}`,
      }),
    );
    const { failure } = await wire.send(REQUEST);
    expect(failure).toContain('it redirects');
    expect(failure).not.toContain('secret-of-main');
  });

  it('is a failure when nothing comes in time, and when nothing listens', async () => {
    const { wire, url } = await target(() => undefined, { timeoutMs: 60 });
    expect((await wire.send(REQUEST)).failure).toBe('no response within 0.06 s');
    await open.pop()?.close();
    const gone = new HttpWire({ url, callers: {}, timeoutMs: 1000 });
    expect((await gone.send(REQUEST)).failure).toBe('nothing listens there (ECONNREFUSED)');
  });

  it.each([
    ['an event stream', 'text/event-stream', ': still here\n'],
    ['JSON', 'application/json', ' '],
  ])('is a failure when %s drips and never ends', async (_, type, drop) => {
    const { wire } = await target(
      (response) => {
        response.writeHead(200, { 'Content-Type': type });
        const timer = setInterval(() => response.write(drop), 5);
        response.on('close', () => clearInterval(timer));
      },
      { timeoutMs: 100 },
    );
    expect((await wire.send(REQUEST)).failure).toBe('no response within 0.1 s');
  });

  it('is no JSON-RPC where it is nested deeper than anybody may walk, or packed', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const { wire } = await target((response, { body: { id } }) =>
      json(response, `{"jsonrpc":"2.0","id":${id},"result":{"deep":${deep}}}`),
    );
    expect((await wire.send(REQUEST)).failure).toBe('HTTP 200, and no JSON-RPC');
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const packed = await target((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(bomb);
    });
    expect((await packed.wire.send(REQUEST)).failure).toBe('HTTP 200, and no JSON-RPC');
  });

  it('is nothing, when the signal ends it', async () => {
    const stop = new AbortController();
    const { wire } = await target(() => stop.abort(new Error('stopped')), { signal: stop.signal });
    await expect(wire.send(REQUEST)).rejects.toThrow('stopped');
  });

  it('is the refusal of a body that the server did not read', async () => {
    const server = await listen((_, response) => void response.writeHead(413).end());
    open.push(server);
    const wire = new HttpWire({ url: server.url, callers: {}, timeoutMs: 5000 });
    const reply = await wire.send({ ...REQUEST, params: { requestState: 'x'.repeat(3 * 1024 * 1024) } });
    expect(reply).toMatchObject({ status: 413 });
    expect(reply.failure).toBeUndefined();
  });
});

it('prints a curl line, with placeholders for what is secret', async () => {
  const { wire, url } = await target(() => undefined);
  const params = { name: "pay's", requestState: '$STATE', inputResponses: '$ANSWERS' };
  const line = wire.print({ ...REQUEST, params });
  expect(line).toBe(
    `curl -sS -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' ` +
      `-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: pay'\\''s' ` +
      `-H "Authorization: $AS" --data-raw '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` +
      `{"name":"pay'\\''s","requestState":"'"$STATE"'","inputResponses":'"$ANSWERS"'}}' '${url}'`,
  );
  expect(wire.print({ ...REQUEST, caller: 'other' })).toContain('-H "X-Key: $OTHER"');
});

it('prints a line that a shell takes: it sends the same, with what the variables hold', async () => {
  const { wire } = await target(() => undefined);
  const params: JsonObject = { name: "it's $HOME `id`", requestState: '$STATE', inputResponses: '$ANSWERS' };
  const curl = `curl() { while [ "$1" != --data-raw ]; do shift; done; printf %s "$2"; }`;
  const env = { STATE: 'a state $(id)', ANSWERS: '{"q":{"action":"accept"}}', AS: 'x' };
  const sent = execFileSync('sh', ['-c', `${curl}\n${wire.print({ ...REQUEST, params })}`], { env });
  expect(JSON.parse(sent.toString())).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: "it's $HOME `id`",
      requestState: 'a state $(id)',
      inputResponses: { q: { action: 'accept' } },
    },
  });
});
