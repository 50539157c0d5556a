import { generateKey } from 'mcp-parley';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley } from '../parley.js';
import { flowsServer } from '../servers/flows.js';
import { scripted, serve, toolsResult, type Loopback } from '../servers/http.js';

let server: Loopback;
beforeAll(async () => void (server = await serve(flowsServer(generateKey()))));
afterAll(() => server.close());

describe('parley tools', () => {
  it('lists names, titles, the first line of the description, and parameters', async () => {
    const { code, out, err } = await parley(['tools', server.url]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(
      'deploy  Deploy a service\n' +
        '  Deploys it where you say.\n' +
        '    env: one of prod, staging, required\n' +
        '    count: integer\n' +
        '    tags: array\n\n' +
        'sign-in\n',
    );
  });

  it('lists them as JSON', async () => {
    const { out } = await parley(['tools', server.url, '--output', 'json']);
    const { tools } = JSON.parse(out) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('deploy');
  });

  it('says so when there are none', async () => {
    const empty = await scripted(() => toolsResult());
    expect(await parley(['tools', empty.url])).toEqual({
      code: 0,
      out: '',
      err: `${empty.url} has no tools.\n`,
    });
    await empty.close();
  });

  it('marks names where a person reads, and not without colours', async () => {
    const name = '\u001b[1mdeploy\u001b[22m';
    expect((await parley(['tools', server.url], { isTerminal: true })).out).toContain(name);
    for (const env of [{ NO_COLOR: '1' }, { NO_COLOR: '' }]) {
      const { out } = await parley(['tools', server.url], { isTerminal: true, env });
      expect(out.includes(name)).toBe(env.NO_COLOR === '');
    }
  });
});
