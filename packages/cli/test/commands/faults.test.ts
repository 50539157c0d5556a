import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { deployOf2025 } from '../../../parley/test/client/servers/of-2025.js';
import { parley, stoppable, temporaryFolder } from '../parley.js';
import { asks, done, form, listen, scripted, toolsResult, type WireRequest } from '../servers/http.js';

const folder = temporaryFolder();
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const STATE = 'a-state-that-must-not-be-shown';

/** A server with one tool, whose nth call is answered by the script. */
async function tool(script: (nth: number, request: WireRequest, hangUp: () => void) => unknown) {
  let nth = 0;
  const server = await scripted((request, response) => {
    if (request.method === 'tools/list') return toolsResult({ name: 't' });
    return script((nth += 1), request, () => void response.destroy());
  });
  open.push(server);
  return server;
}

let count = 0;

function answers(content: unknown): string {
  const path = join(folder, `answers-${(count += 1)}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('a server that', () => {
  it('hangs up on a retry: code 5, sent once, and how to go on', async () => {
    let calls = 0;
    const server = await tool((nth, _, hangUp) => {
      calls = nth;
      return nth === 1 ? asks({ q: form('Q?') }, STATE) : hangUp();
    });
    const args = ['call', server.url, 't', '--answers', answers({ q: { text: 'x' } })];
    const { code, out, err } = await parley(args);
    expect({ code, out, calls }).toEqual({ code: 5, out: '', calls: 2 });
    expect(err).toMatch(/round 2 was sent, and then it closed the connection/);
    expect(err).toContain('Look at the thing itself before you call again.');
    expect(err).not.toContain(STATE);
  });

  it('quotes the state in a page of errors: it is not shown, at length neither', async () => {
    const server = await scripted(({ method, params }, response) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      if (params['requestState'] === undefined) return asks({ q: form('Q?') }, STATE);
      return void response.writeHead(418).end(`<pre>${JSON.stringify(params)}</pre>`);
    });
    open.push(server);
    const args = ['call', server.url, 't', '--verbose', '--answers', answers({ q: { text: 'x' } })];
    const { code, err } = await parley(args);
    expect(code).toBe(1);
    expect(err).toContain('it answers with HTTP 418.');
    expect(err).toContain('[requestState]');
    expect(err).not.toContain(STATE);
  });

  it('hangs up on a retry of a saved call: the file knows, and --resend goes on', async () => {
    const server = await tool((nth, _, hangUp) => {
      if (nth === 1) return asks({ q: form('Q?') }, STATE);
      return nth === 2 ? hangUp() : done('late');
    });
    const path = join(folder, `flow-${(count += 1)}.json`);
    const file = answers({ q: { text: 'x' } });
    await parley(['call', server.url, 't', '--save', path]);
    const failed = await parley(['resume', path, '--answers', file]);
    expect(failed.code).toBe(5);
    expect(failed.err).toContain(`send it again with\n  parley resume ${path} --resend\n`);
    expect(await parley(['resume', path, '--answers', file])).toMatchObject({ code: 5 });
    expect(await parley(['resume', path, '--answers', file, '--resend'])).toMatchObject({
      code: 0,
      out: 'late\n',
    });
  });

  it('hangs up on the first request: code 1, and no claim about what it did', async () => {
    const server = await tool((_nth, _request, hangUp) => hangUp());
    const { code, err } = await parley(['call', server.url, 't']);
    expect(code).toBe(1);
    expect(err).toContain('Whether the server took the call up is not known.');
  });

  it('answers a retry with an error: code 1, and nothing is left to go on with', async () => {
    const server = await tool((nth) =>
      nth === 1 ? asks({ q: form('Q?') }, STATE) : { code: 7003, message: `busy with ${STATE}` },
    );
    const path = join(folder, `flow-${(count += 1)}.json`);
    await parley(['call', server.url, 't', '--save', path]);
    const { code, err } = await parley(['resume', path, '--answers', answers({ q: { text: 'x' } })]);
    expect(code).toBe(1);
    expect(err).toContain('it answers with error 7003: busy with [requestState]');
    expect(err).toContain(`The call is over, and nothing of it is kept in ${path}.`);
    expect(existsSync(path)).toBe(false);
  });

  it('asks the same key again: the answer is not given twice', async () => {
    const server = await tool((nth) => asks({ q: form(`Price ${nth}?`) }, STATE));
    const one = await parley(['call', server.url, 't', '--answers', answers({ q: { text: 'x' } })]);
    expect(one.code).toBe(4);
    expect(one.err).toContain('"q": Price 2?');
    expect(one.err).toContain('"q" was asked again, and each answer is given once');
    const list = answers({ q: [{ text: 'x' }, { text: 'y' }] });
    const two = await parley(['call', server.url, 't', '--answers', list]);
    expect(two.err).toMatch(/"q": Price \d\?/);
  });

  it('asks the same for ever: code 1, with the key', async () => {
    const server = await tool((nth) => asks({ q: form('Q?') }, `${STATE}${nth}`));
    const list = answers({ q: Array.from({ length: 9 }, () => ({ text: 'x' })) });
    const { code, err } = await parley(['call', server.url, 't', '--answers', list]);
    expect(code).toBe(1);
    expect(err).toContain('it asks the same again and again ("q", 3 times), whatever the answer.');
  });

  it.each([
    ['a form that cannot be filled in', asks({ q: form('Q?', { x: { type: 'object' } }) })],
    ['what nobody declared', asks({ q: { method: 'sampling/createMessage', params: { messages: [] } } })],
    ['to open what must not be opened', asks({ q: url('javascript:alert(1)') })],
    ['nothing, without a state', asks({})],
    ['in a way that does not exist', { resultType: 'wibble', content: [] }],
  ])('asks %s: code 1', async (_, answer) => {
    const server = await tool(() => answer);
    const { code, out, err } = await parley(['call', server.url, 't', '--answers', answers({})]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`parley: ${server.url}: `);
    expect(err).not.toContain('wibble');
  });

  it.each(['', 'undefined', '__proto__', 'constructor', 'a"b'])('has a question %j', async (key) => {
    const entries = Object.fromEntries([[key, form('Q?')]]);
    const server = await tool((nth, { params }) =>
      nth === 1 ? asks(entries) : done(JSON.stringify(params['inputResponses'])),
    );
    const given = Object.fromEntries([[key, { text: 'x' }]]);
    const { code, out } = await parley(['call', server.url, 't', '--answers', answers(given)]);
    const expected = JSON.stringify(
      Object.fromEntries([[key, { action: 'accept', content: { text: 'x' } }]]),
    );
    expect({ code, out }).toEqual({ code: 0, out: `${expected}\n` });
  });

  it('has a parameter __proto__: it arrives as it was given, and pollutes nothing', async () => {
    const seen: unknown[] = [];
    const server = await tool((_, { params }) => {
      seen.push(params['arguments']);
      return done('ok');
    });
    const whole = '{"__proto__":{"polluted":1},"a":{"__proto__":2}}';
    expect(await parley(['call', server.url, 't', '--json', whole])).toMatchObject({ code: 0 });
    expect(JSON.stringify(seen)).toBe(`[${whole}]`);
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('a server of 2025-11-25', () => {
  const words = ['deploy', 'service=web', 'environment=prod'];

  it('is driven by the same command; its questions are numbered', async () => {
    const server = await listen(deployOf2025('call'));
    open.push(server);
    const unanswered = await parley(['call', server.url, ...words]);
    expect(unanswered.code).toBe(4);
    expect(unanswered.err).toContain('"1": Which region?');
    const file = answers({
      '1': { region: 'us-east' },
      '2': { replicas: 2, strategy: 'canary' },
      '3': { confirm: true },
    });
    const { code, out } = await parley(['call', server.url, ...words, '--answers', file]);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'Deployed web-1a2b3c4d to prod in us-east, 2 replicas, canary: release 42.\n',
    });
  });

  it('cannot be left: nothing is called then', async () => {
    const server = await listen(deployOf2025('call'));
    open.push(server);
    const path = join(folder, 'never.json');
    const { code, err } = await parley(['call', server.url, ...words, '--save', path]);
    expect(code).toBe(1);
    expect(err).toContain('calls cannot be saved. Nothing was called.');
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 130, 'parley: Stopped.\n'],
    ['SIGTERM', 143, 'parley: Stopped.\n'],
    ['SIGHUP', 129, 'parley: Stopped.\n'],
  ] as const)('%s while the server works ends the call with code %i', async (signal, code, err) => {
    const { onStop, stop } = stoppable();
    const server = await tool(() => void setImmediate(() => stop(signal)));
    expect(await parley(['call', server.url, 't'], { onStop })).toEqual({ code, out: '', err });
  });

  it('while a retry is under way says that its outcome is not known', async () => {
    const { onStop, stop } = stoppable();
    const server = await tool((nth) =>
      nth === 1 ? asks({ q: form('Q?') }, STATE) : void setImmediate(() => stop('SIGINT')),
    );
    const args = ['call', server.url, 't', '--answers', answers({ q: { text: 'x' } })];
    const { code, err } = await parley(args, { onStop });
    expect(code).toBe(130);
    expect(err).toContain('Stopped, with a retry under way: whether it took effect is not known.');
  });

  it('while it connects ends it as well', async () => {
    const { onStop, stop } = stoppable();
    const server = await listen(() => void setImmediate(() => stop('SIGINT')));
    open.push(server);
    const { code, err } = await parley(['tools', server.url], { onStop });
    expect({ code, err }).toEqual({ code: 130, err: 'parley: Stopped by Ctrl-C.\n' });
  });

  it('leaves a saved call as it was', async () => {
    const { onStop, stop } = stoppable();
    const server = await tool((nth) =>
      nth === 1 ? asks({}, STATE) : void setImmediate(() => stop('SIGINT')),
    );
    const path = join(folder, `flow-${(count += 1)}.json`);
    const { code, err } = await parley(['call', server.url, 't', '--save', path], { onStop });
    expect(code).toBe(130);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ round: 1, requestState: STATE });
    expect(err).toContain(`parley resume ${path}`);
  });
});

function url(address: string): unknown {
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Open?', url: address, elicitationId: '1' },
  };
}
