import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKey } from 'mcp-parley';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parley, temporaryFolder, type Ran } from '../parley.js';
import { flowsServer, type Done } from '../servers/flows.js';
import { asks, done, form, scripted, serve, toolsResult, type Loopback } from '../servers/http.js';

const folder = temporaryFolder();
const finished: Done = new Map();
let server: Loopback;
beforeAll(async () => void (server = await serve(flowsServer(generateKey(), finished))));
afterAll(() => server.close());

let count = 0;
let path = '';
beforeEach(() => {
  finished.clear();
  path = join(folder, `flow-${(count += 1)}.json`);
});

function answers(content: unknown): string {
  const file = join(folder, `answers-${count}-${Object.keys(content as object).join('-')}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function save(...args: string[]): Promise<Ran> {
  return parley(['call', server.url, 'deploy', 'env=prod', '--save', path, ...args]);
}

function flow(): Record<string, unknown> & { requestState: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown> & { requestState: string };
}

describe('parley call --save', () => {
  it('leaves at the first question: prints it, how to go on, and nothing of the state', async () => {
    const { code, out, err } = await save();
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('  "region": Which region?\n');
    expect(err).toContain(`The call is saved in ${path}. Go on with\n  parley resume ${path}\n`);
    expect(err).not.toContain(flow().requestState);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('with answers leaves at the first question that has none', async () => {
    const { code, err } = await save('--answers', answers({ region: { region: 'eu' } }));
    expect(code).toBe(4);
    expect(err).toContain('  "go": Deploy to prod in eu?\n');
    expect(err).toContain('has no answer to that.\nThe call is saved in');
    expect(flow()).toMatchObject({ round: 2, questions: [{ key: 'go' }] });
  });

  it('refuses a file that holds another call, before anything is sent', async () => {
    await save();
    const before = readFileSync(path, 'utf8');
    const { code, err } = await save();
    expect(code).toBe(2);
    expect(err).toBe(
      `parley: ${path} holds a call that did not end. Go on with it (parley resume ${path}), ` +
        'remove it, or choose another name.\n',
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each([
    ['another file', () => writeFileSync(path, 'my thesis'), /is no saved call: it is not JSON/],
    ['a folder', () => mkdirSync(path), /is no saved call: the file is not a regular file/],
    [
      'a folder that is not there',
      () => void (path = join(folder, 'none', 'f.json')),
      /its folder is not there/,
    ],
  ])('refuses %s', async (_, prepare, message) => {
    prepare();
    const { code, err } = await save();
    expect(code).toBe(2);
    expect(err).toMatch(message);
    if (existsSync(path) && statSync(path).isFile()) expect(readFileSync(path, 'utf8')).toBe('my thesis');
  });

  it('does not overwrite what another process has put there meanwhile', async () => {
    await save();
    const other = readFileSync(path, 'utf8');
    path = join(folder, `flow-${(count += 1)}.json`);
    const slow = await scripted(({ method }) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      writeFileSync(path, other);
      return asks({ q: form('Q?') }, 'state');
    });
    const { code, err } = await parley(['call', slow.url, 't', '--save', path]);
    await slow.close();
    expect(code).toBe(1);
    expect(err).toContain('was changed by somebody else meanwhile. The call was not gone on with.');
    expect(readFileSync(path, 'utf8')).toBe(other);
  });
});

describe('parley resume', () => {
  it('goes on to the end, and removes the file', async () => {
    await save();
    const file = answers({ region: { region: 'us' }, go: { confirm: true } });
    const { code, out } = await parley(['resume', path, '--answers', file]);
    expect({ code, out }).toEqual({ code: 0, out: 'Deployed 1 to prod in us.\n' });
    expect(existsSync(path)).toBe(false);
    expect(finished.get('release')).toBe(1);
  });

  it('with --save answers what is pending, and leaves at the next question in the same file', async () => {
    await save();
    const first = await parley([
      'resume',
      path,
      '--save',
      '--answers',
      answers({ region: { region: 'us' } }),
    ]);
    expect(first.code).toBe(4);
    expect(first.err).toContain('"go": Deploy to prod in us?');
    expect(flow()).toMatchObject({ round: 2 });
    const second = await parley(['resume', path, '--answers', answers({ go: { confirm: true } })]);
    expect(second).toMatchObject({ code: 0, out: 'Deployed 1 to prod in us.\n' });
  });

  it('without a terminal and answers says what is asked, and keeps the file', async () => {
    await save();
    const { code, err } = await parley(['resume', path]);
    expect(code).toBe(4);
    expect(err).toContain('"region": Which region?');
    expect(flow()).toMatchObject({ round: 1 });
  });

  it('goes on with prompts and resources', async () => {
    await parley(['read', server.url, 'releases://notes', '--save', path]);
    const file = answers({ full: { full: false } });
    expect(await parley(['resume', path, '--answers', file])).toMatchObject({
      code: 0,
      out: 'The last note.\n',
    });
    await parley(['prompt', server.url, 'review', 'version=3', '--save', path]);
    const tone = answers({ tone: { tone: 'dry' } });
    expect(await parley(['resume', path, '--answers', tone])).toMatchObject({
      out: 'user:\nReview 3, dry.\n',
    });
  });

  it.each([
    ['nothing', () => undefined, /is not there\. Has the call ended\?/],
    ['a folder', () => mkdirSync(path), /not a regular file/],
    ['no JSON', () => writeFileSync(path, '{"requestState":"secret'), /is no saved call: it is not JSON/],
    ['another format', () => writeFileSync(path, '{"a":"secret"}'), /is no saved call: format/],
    ['a time that is none', () => edit({ sentAt: Number.MAX_SAFE_INTEGER }), /Round 2 was sent once/],
  ])('of a file that holds %s says what is wrong, and shows none of it', async (_, prepare, message) => {
    await prepare();
    const { code, err } = await parley(['resume', path]);
    expect([2, 5]).toContain(code);
    expect(err).toMatch(message);
    expect(err).not.toContain('secret');
  });

  it('is bound to the principal', async () => {
    await save('--principal', 'ann');
    for (const args of [[], ['--principal', 'bob']]) {
      const { code, err } = await parley(['resume', path, ...args]);
      expect({ code, err }).toEqual({
        code: 2,
        err: 'parley: The call was saved under another --principal. Give the one that it was saved under.\n',
      });
    }
    const file = answers({ region: { region: 'us' }, go: { confirm: true } });
    expect(await parley(['resume', path, '--principal', 'ann', '--answers', file])).toMatchObject({
      code: 0,
    });
  });

  it('sends a token only where the person says, not where the file says', async () => {
    let isAsked = false;
    const thief = await scripted(() => {
      isAsked = true;
      return done('x');
    });
    await save();
    await edit({ server: { url: thief.url, principal: null } });
    const env = { TOKEN: 'secret-token' };
    const { code, err } = await parley(['resume', path, '--bearer-env', 'TOKEN'], { env });
    expect(code).toBe(2);
    expect(err).toContain(
      `A file must not say where a token is sent.\nIf that is right, say so with\n  parley resume`,
    );
    const other = await parley(['resume', path, server.url, '--bearer-env', 'TOKEN'], { env });
    expect(other.code).toBe(2);
    expect(other.err).toContain(
      `That is not the server that the call was saved with, which is ${thief.url}.`,
    );
    expect(isAsked).toBe(false);
    await thief.close();
  });

  it('never starts a program because a file says so', async () => {
    await save();
    const witness = join(folder, 'started');
    await edit({ server: { command: 'touch', args: [witness], principal: null } });
    const { code, err } = await parley(['resume', path]);
    expect(code).toBe(2);
    expect(err).toContain(`which a file must not start by itself: touch ${witness}`);
    expect(err).toContain(`parley resume ${path} -- touch ${witness}\n`);
    expect((await parley(['resume', path, '--', 'touch', 'other'])).code).toBe(2);
    expect((await parley(['resume', path, server.url])).code).toBe(2);
    expect(existsSync(witness)).toBe(false);
  });

  it('of a round of unknown outcome asks nobody, until it may be sent again', async () => {
    await save();
    await edit({ sentAt: Date.UTC(2026, 0, 1) });
    const file = answers({ region: { region: 'us' }, go: { confirm: true } });
    const { code, err } = await parley(['resume', path, '--answers', file]);
    expect(code).toBe(5);
    expect(err).toContain('Round 2 was sent on 2026-01-01T00:00:00.000Z and not answered');
    expect(err).toContain(`parley resume ${path} --resend\n`);
    expect(await parley(['resume', path, '--answers', file, '--resend'])).toMatchObject({ code: 0 });
  });

  it('says that the state was refused, and removes what is of no use', async () => {
    await save();
    await edit({ requestState: 'parley1.AAAA' });
    const { code, err } = await parley(['resume', path, '--answers', answers({ region: { region: 'us' } })]);
    expect(code).toBe(1);
    expect(err).toContain('it does not take its own state back');
    expect(err).toContain(`${path} is of no use any more, and was removed.`);
    expect(existsSync(path)).toBe(false);
  });

  it('keeps the call when the server is away, and says so', async () => {
    const gone = await serve(flowsServer(generateKey()));
    await parley(['call', gone.url, 'deploy', 'env=prod', '--save', path]);
    await gone.close();
    const { code, err } = await parley(['resume', path, '--answers', answers({ region: { region: 'us' } })]);
    expect(code).toBe(1);
    expect(err).toContain('No connection to');
    expect(flow()).toMatchObject({ round: 1 });
  });

  /** Changes members of a saved call, of which there is one then. */
  async function edit(members: Record<string, unknown>): Promise<void> {
    if (!existsSync(path)) await save();
    writeFileSync(path, JSON.stringify({ ...flow(), ...members }));
  }

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:application/json,{}'])(
    'goes to no %s that a file names',
    async (url) => {
      await save();
      writeFileSync(path, JSON.stringify({ ...flow(), server: { url, principal: null } }));
      const { code, err } = await parley(['resume', path]);
      expect(code).toBe(2);
      expect(err).toContain("A server's URL begins with https://");
    },
  );
});
