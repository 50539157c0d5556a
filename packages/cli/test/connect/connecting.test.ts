import type { ServerResponse } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parley, type Surroundings } from '../parley.js';
import { listen, scripted, toolsResult, type Loopback } from '../servers/http.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function answering(respond: (response: ServerResponse) => unknown): Promise<Loopback> {
  const server = await listen((request, response) => {
    request.resume();
    return respond(response);
  });
  open.push(server);
  return server;
}

/** Lists the tools of a server: the least that connects. */
function tools(url: string, args: readonly string[] = [], surroundings: Surroundings = {}) {
  return parley(['tools', url, ...args], surroundings);
}

describe('connecting to a URL', () => {
  it.each([
    [401, /it wants to know who you are \(401\)\. Put a token into a variable.*--bearer-env/],
    [403, /it refuses access \(403\)/],
    [404, /nothing speaks MCP at this path \(404\)\. Is the URL whole\?/],
    [405, /nothing speaks MCP at this path \(405\)/],
    [429, /too many requests \(429\)/],
    [500, /it has a fault of its own \(500\)/],
    [503, /it has a fault of its own \(503\)/],
  ])('that answers %i says what to do', async (status, message) => {
    const server = await answering((response) => response.writeHead(status).end('<b>\u001b[31mno</b>'));
    const { code, out, err } = await tools(server.url);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err).toContain(`No connection to ${server.url}: `);
    expect(err).not.toContain('<b>');
  });

  it.each([
    ['a page', 'text/html', '<html></html>'],
    ['JSON that is not JSON-RPC', 'application/json', '{"hello":"world"}'],
    ['broken JSON', 'application/json', '{'],
  ])('that is no MCP server but answers with %s', async (_, type, body) => {
    const server = await answering((response) => response.writeHead(200, { 'Content-Type': type }).end(body));
    const { code, err } = await tools(server.url);
    expect(code).toBe(1);
    expect(err).toMatch(/what answers there is no MCP server\. Is the URL whole\?/);
  });

  it('where nothing listens', async () => {
    const server = await answering(() => undefined);
    await server.close();
    open.length = 0;
    const { code, err } = await tools(server.url);
    expect(code).toBe(1);
    expect(err).toMatch(/nothing listens there \(ECONNREFUSED\)\. Is the server running/);
  });

  it('of a host that does not exist', async () => {
    const { code, err } = await tools('https://nowhere.invalid/mcp');
    expect(code).toBe(1);
    expect(err).toMatch(/there is no host of this name \((ENOTFOUND|EAI_AGAIN)\)/);
  });

  it('that speaks no TLS', async () => {
    const server = await answering((response) => response.end());
    const { code, err } = await tools(server.url.replace('http:', 'https:'));
    expect(code).toBe(1);
    expect(err).toMatch(/it does not speak TLS there/);
  });

  it('that hangs up, and one that speaks something else than HTTP', async () => {
    for (const greeting of ['', 'SSH-2.0-OpenSSH\r\n']) {
      const net = createNetServer((socket) => socket.on('error', () => undefined).end(greeting));
      await new Promise<void>((resolve) => void net.listen(0, '127.0.0.1', resolve));
      open.push(net);
      const { code, err } = await tools(`http://127.0.0.1:${(net.address() as AddressInfo).port}/mcp`);
      expect(code).toBe(1);
      expect(err).toMatch(/it closed the connection|does not speak HTTP/);
    }
  });

  it('that never answers', async () => {
    const server = await answering(() => undefined);
    const { code, err } = await tools(server.url, ['--timeout', '200ms']);
    expect(code).toBe(1);
    expect(err).toContain('it did not answer within 0.2 s (--timeout).');
  });

  it('that sends elsewhere: the token does not follow', async () => {
    let isAsked = false;
    const other = await answering((response) => {
      isAsked = true;
      return response.end();
    });
    const server = await answering((response) => response.writeHead(307, { Location: other.url }).end());
    const { code, err } = await tools(server.url, ['--bearer-env', 'T'], { env: { T: 'token-of-ann' } });
    expect({ code, isAsked }).toEqual({ code: 1, isAsked: false });
    expect(err).toContain(`Redirect to ${other.url} not followed`);
  });

  it('of a revision that nobody knows', async () => {
    const serverInfo = { name: 'old', version: '1' };
    const answer = { protocolVersion: '1999-01-01', capabilities: {}, serverInfo };
    const server = await scripted(() => answer, { isModern: false });
    open.push(server);
    const { code, err } = await tools(server.url);
    expect(code).toBe(1);
    expect(err).toContain('protocol version is not supported: 1999-01-01');
  });
});

describe('headers and tokens', () => {
  it('go with every request', async () => {
    const seen: unknown[] = [];
    const server = await scripted(({ headers }) => {
      seen.push([headers.authorization, headers['x-tenant']]);
      return toolsResult();
    });
    open.push(server);
    const args = ['--bearer-env', 'MY_TOKEN', '--header', 'X-Tenant: acme: eu'];
    expect((await tools(server.url, args, { env: { MY_TOKEN: 'abc' } })).code).toBe(0);
    expect(seen).toEqual([['Bearer abc', 'acme: eu']]);
  });

  it.each([
    [['--bearer-env', 'NOT_SET'], /NOT_SET is not set/],
    [['--bearer-env', 'eyJhbGciOiJIUzI1NiJ9'], /^parley: The variable is not set\./],
    [['--bearer-env', 'BROKEN'], /BROKEN does not hold a token that HTTP can carry/],
    [['--header', 'no-colon-secret'], /--header number 1 is not of the form/],
    [['--header', 'a b: secret'], /--header number 1 is not of the form/],
    [['--header', 'X-A: secret\r\nX-B: c'], /The header X-A has no value that HTTP can carry/],
    [['--header', 'Content-Type: secret'], /The header Content-Type is not yours to set/],
    [['--header', 'mcp-session-id: secret'], /not yours to set/],
    [['--bearer-env', 'TOKEN', '--header', 'authorization: secret'], /Leave one of them out/],
  ])('%j end with code 2, and no value is shown', async (args, message) => {
    const env = { TOKEN: 'secret-token', BROKEN: 'secret token' };
    const { code, err } = await tools('http://127.0.0.1:9/mcp', args, { env });
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/secret|eyJ/);
  });

  it('never cross a network in clear text', async () => {
    const env = { TOKEN: 'secret-token' };
    for (const args of [
      ['--bearer-env', 'TOKEN'],
      ['--header', 'Cookie: secret-token'],
    ]) {
      for (const url of ['http://example.com/mcp', 'http://10.0.0.1/mcp', 'http://localhost.evil.com/mcp']) {
        const { code, err } = await tools(url, args, { env });
        expect(code).toBe(2);
        expect(err).toMatch(/would cross the network in clear text/);
      }
    }
  });

  it('are not for programs', async () => {
    const { code, err } = await parley(['tools', '--bearer-env', 'T', '--', 'node'], { env: { T: 'x' } });
    expect(code).toBe(2);
    expect(err).toMatch(/for servers behind a URL/);
  });

  it.each([[], ['--verbose']])('are not shown when a server quotes them (%s)', async (...more) => {
    const token = 'token-of-ann-0123456789';
    const surroundings = { env: { TOKEN: token } };
    const args = ['--bearer-env', 'TOKEN', '--header', 'X-Key: key-of-ann', ...more];
    const quoting = await scripted(({ headers }) => ({
      code: -32_000,
      message: `no: ${headers.authorization} ${String(headers['x-key'])}`,
    }));
    const page = await answering((response) => response.writeHead(400).end(`${token} key-of-ann`));
    open.push(quoting);
    for (const { url } of [quoting, page]) {
      const { code, err } = await tools(url, args, surroundings);
      expect(code).toBe(1);
      expect(err).not.toMatch(/of-ann/);
    }
    expect((await tools(quoting.url, args, surroundings)).err).toContain('no: [secret] [secret]');
  });

  it('a token that is refused', async () => {
    const server = await answering((response) => response.writeHead(401).end());
    const { err } = await tools(server.url, ['--bearer-env', 'T'], { env: { T: 'token-of-ann' } });
    expect(err).toMatch(/it does not take these credentials \(401\)/);
  });
});
