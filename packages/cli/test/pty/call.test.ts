import { generateKey } from 'mcp-parley';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { taskServer } from '../../../parley/test/client/servers/tasks.js';
import { temporaryFolder, TSX } from '../parley.js';
import { flowsServer } from '../servers/flows.js';
import { asks, done, form, scripted, serve, toolsResult, type Loopback } from '../servers/http.js';
import { COUNTRIES } from '../terminal/questions.js';
import { endAll, KEYS, Screen, type ScreenOptions } from '../terminal/screen.js';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const { enter, escape, up, down, ctrlC, ctrlD } = KEYS;

const folder = temporaryFolder();
let releases: Loopback;
beforeAll(async () => void (releases = await serve(flowsServer(generateKey()))));
afterAll(() => releases.close());

const servers: Loopback[] = [];
afterEach(async () => {
  endAll();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** The command, in a terminal. */
function parley(args: readonly string[], options: Omit<ScreenOptions, 'args'> = {}): Screen {
  return new Screen({ cwd: folder, ...options, args: ['--import', TSX, MAIN, ...args] });
}

/** A server with one tool, which asks these forms in turn, and then gives the answers that it got. */
async function asker(...questions: readonly unknown[]): Promise<string> {
  const answers: unknown[] = [];
  const server = await scripted(({ method, params }) => {
    if (method === 'tools/list') return toolsResult({ name: 't' });
    const { inputResponses } = params as { readonly inputResponses?: Readonly<Record<string, unknown>> };
    if (inputResponses !== undefined) answers.push(inputResponses['q']);
    const next = questions[answers.length];
    return next === undefined
      ? done(`Got ${JSON.stringify(answers)}`)
      : asks({ q: next }, `state ${answers.length}`);
  });
  servers.push(server);
  return server.url;
}

const RELEASE = form('Release 1.4.2 is ready. It was tested on staging.', {
  region: {
    type: 'string',
    title: 'Region',
    oneOf: [
      { const: 'eu', title: 'Europe' },
      { const: 'us', title: 'United States' },
    ],
  },
  country: { type: 'string', title: 'Country', enum: COUNTRIES },
  title: { type: 'string', title: 'Title', minLength: 3, maxLength: 20 },
  contact: { type: 'string', title: 'Contact', format: 'email', description: 'Who hears about a failure.' },
  page: { type: 'string', title: 'Change log', format: 'uri' },
  instances: { type: 'integer', title: 'Instances', minimum: 1, maximum: 10, default: 2 },
  load: { type: 'number', title: 'Load', minimum: 0, maximum: 1 },
  day: { type: 'string', title: 'Day', format: 'date' },
  at: { type: 'string', title: 'Time', format: 'date-time' },
  notify: { type: 'boolean', title: 'Tell the team' },
  checks: {
    type: 'array',
    title: 'Checks',
    minItems: 1,
    items: { type: 'string', enum: ['smoke', 'load', 'security'] },
  },
});

describe('parley call in a terminal', () => {
  it('asks a form with every type of field, lets the person go back and change, and prints the result (FORM-23 to FORM-26)', async () => {
    const url = await asker(RELEASE);
    const screen = parley(['call', url, 't']);
    expect(await screen.see('Field 1 of 11')).toContain(`◆ ${url} asks`);
    screen.type(down, enter);
    await screen.see('Field 2 of 11');
    screen.type('saot');
    expect(await screen.see('(1 of 40)')).toContain('┃ › São Tomé');
    screen.type(enter);
    await screen.see('Field 3 of 11');
    screen.type('ab', enter);
    await screen.see('✗ It must have at least 3 characters.');
    screen.type('c', enter);
    await screen.see('Field 4 of 11');
    screen.type('ann@example.com', enter);
    await screen.see('Field 5 of 11');
    screen.type('https://example.com/log', enter);
    await screen.see('Field 6 of 11');
    screen.type(up, up, enter);
    await screen.see('Field 7 of 11');
    screen.type('.25', enter);
    await screen.see('Field 8 of 11');
    screen.type('2026-03-09', up, enter);
    await screen.see('Field 9 of 11');
    screen.type(escape);
    expect(await screen.see('Field 8 of 11')).toContain('› 2026-03-10');
    screen.type(down, enter);
    await screen.see('Field 9 of 11');
    screen.type('2026-03-09 14:30', enter);
    await screen.see('Field 10 of 11');
    screen.type('y', enter);
    await screen.see('Field 11 of 11');
    screen.type(' ', down, down, ' ');
    await screen.see('2 ticked.');
    screen.type(enter);
    expect(await screen.see('Your answers')).toContain(
      [
        '┃   Region         United States',
        '┃   Country        São Tomé',
        '┃   Title          abc',
        '┃   Contact        ann@example.com',
        '┃   Change log     https://example.com/log',
        '┃   Instances      4',
        '┃   Load           0.25',
        '┃   Day            2026-03-09',
        '┃   Time           2026-03-09T14:30:00+00:00',
        '┃   Tell the team  yes',
        '┃   Checks         smoke, security',
        '  › Send to',
      ].join('\n'),
    );
    screen.type(...Array.from({ length: 11 }, () => up), enter);
    await screen.see('Field 1 of 11');
    screen.type(up, enter);
    await screen.see(/Region +Europe/);
    screen.type(enter);
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    const [, got = ''] = /Got (\[.*\])/.exec(screen.raw) ?? [];
    expect(JSON.parse(got)).toEqual([
      {
        action: 'accept',
        content: {
          region: 'eu',
          country: 'São Tomé',
          title: 'abc',
          contact: 'ann@example.com',
          page: 'https://example.com/log',
          instances: 4,
          load: 0.25,
          day: '2026-03-09',
          at: '2026-03-09T14:30:00+00:00',
          notify: true,
          checks: ['smoke', 'security'],
        },
      },
    ]);
    expect(screen.all).toMatch(
      /asked\n┃ Release 1\.4\.2 is ready\.[^]*┃ Region +Europe\n[^]*\n {2}Sent\.\n\nGot \[/,
    );
    expect(screen.all).not.toContain('Ctrl-C');
  });

  it('fits a window of 60 columns, with a select of 40 choices', async () => {
    const message = 'From which country do you call? It decides which of our offices answers you, and when.';
    const url = await asker(form(message, { country: { type: 'string', enum: COUNTRIES } }));
    const screen = parley(['call', url, 't'], { columns: 60 });
    const text = await screen.see('Field 1 of 1');
    expect(text.replace(url, 'https://calls.example.com/mcp')).toMatchInlineSnapshot(`
      "◆ https://calls.example.com/mcp asks
      ┃ From which country do you call? It decides which of our
      ┃ offices answers you, and when.

        Field 1 of 1 · required · choose one
      ┃ country
        Search:   (40 of 40)
      ┃ › Argentina
      ┃   Australia
      ┃   Austria
      ┃   Belgium
      ┃   Brazil
      ┃   Bulgaria
      ┃   Canada
      ┃   Chile
      ┃   Croatia
      ┃   Cyprus
      ┃   Czechia
        1 to 11 of 40

        Enter next · Ctrl-D decline · Ctrl-C cancel · ↑↓ choose
        Type to search"
    `);
    screen.type('uni', KEYS.backspace, KEYS.backspace, KEYS.backspace, 'united');
    await screen.see('(1 of 40)');
    screen.type(enter);
    await screen.see('Your answers');
    screen.type(enter);
    await screen.ended;
    expect(screen.raw).toContain('Got [{"action":"accept","content":{"country":"United Kingdom"}}]');
  });

  it('tells the server that the person declined, and ends with the tool error that it makes of that', async () => {
    const screen = parley(['call', releases.url, 'deploy', 'env=prod']);
    await screen.see('Field 1 of 2');
    screen.type('x', ctrlD);
    expect(await screen.ended).toEqual({ code: 3, signal: 0 });
    expect(screen.all).toContain('  Declined.\n');
    expect(screen.all).not.toContain('Field 1');
  });

  it('sends cancel on Ctrl-C, and stops on a second one, also while nothing is asked', async () => {
    const url = await asker(form('One?'), form('Two?'));
    const twice = parley(['call', url, 't']);
    await twice.see('┃ One?');
    twice.type(ctrlC);
    await twice.see('◆');
    await twice.see('┃ Two?');
    twice.type(ctrlC);
    expect(await twice.ended).toEqual({ code: 130, signal: 0 });
    expect(twice.all).toMatch(/Cancelled\.\n[^]*Stopped\./);
    expect(twice.all).not.toContain('Field 1');

    const silent = await scripted(({ method, params }, response) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      if (!('inputResponses' in params)) return asks({ q: form('One?') });
      return void response.write(' '); // and nothing more
    });
    servers.push(silent);
    const waiting = parley(['call', silent.url, 't']);
    await waiting.see('┃ One?');
    waiting.type(ctrlC);
    await waiting.see(/[◐◓◑◒] .* round 2 · 0:0\d/);
    waiting.type(ctrlC);
    expect(await waiting.ended).toEqual({ code: 130, signal: 0 });
  });

  it('takes the question from the screen when it is ended', async () => {
    const screen = parley(['call', releases.url, 'deploy', 'env=prod']);
    await screen.see('Field 1 of 2');
    screen.kill('SIGTERM');
    expect(await screen.ended).toEqual({ code: 143, signal: 0 });
    expect(screen.all).toBe('parley: Stopped.');
  });

  it('shows nothing of a server as anything but text', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u001b[1;1H\u202eHi\u009b31m';
    const server = await scripted(({ method, params }) => {
      if (method === 'tools/list') return toolsResult({ name: 't', description: evil });
      return 'inputResponses' in params
        ? done(evil)
        : asks({ [evil]: form(evil, { [evil]: { type: 'string', title: evil } }) });
    });
    servers.push(server);
    const screen = parley(['call', server.url, 't']);
    expect(await screen.see('Field 1 of 1')).toContain('┃ \\u001b]0;owned\\u0007\\u001b[2J');
    screen.type('x', enter);
    await screen.see('Your answers');
    screen.type(enter);
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    // eslint-disable-next-line no-control-regex -- they are what must not be there
    expect(screen.raw).not.toMatch(/\u001b\]|\u001b\[2J|\u001b\[1;1H|\u009b|\u202e/);
  });

  it('opens no page without a yes', async () => {
    const screen = parley(['call', releases.url, 'sign-in'], { env: { PATH: folder } });
    const text = await screen.see('It leads to');
    expect(text).toContain('┃ https://login.example.com/start?id=1\n');
    expect(text).toContain('┃ login.example.com\n');
    screen.type(down, enter);
    await screen.see('The address stands above.');
    screen.type(enter);
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    expect(screen.all).toContain('The page: accept.');
  });
});

describe('a task that is at work', () => {
  const evil = '\u001b]0;owned\u0007\u202eCompiling\n';

  /** It says what it does, and then it is done. */
  async function compiling(): Promise<{ readonly url: string; readonly finish: () => void }> {
    let isDone = false;
    const { create } = taskServer((task) => {
      task.working(evil);
      if (isDone) task.complete({ content: [{ type: 'text', text: 'Compiled.' }] });
    });
    const server = await serve(create);
    servers.push(server);
    return { url: server.url, finish: () => void (isDone = true) };
  }

  it('is seen to be, harmless and behind a bar, and nothing of that stays', async () => {
    const { url, finish } = await compiling();
    const screen = parley(['call', url, 't']);
    await screen.see(/[◐◓◑◒] .* round 1 · 0:0\d\n┃ \\u001b\]0;owned\\u0007\\u202eCompiling$/);
    finish();
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    expect(screen.all).toBe('Compiled.');
    // eslint-disable-next-line no-control-regex -- they are what must not be there
    expect(screen.raw).not.toMatch(/\u001b\]|\u202e/);
  });

  it('says each thing once on a terminal that cannot go back', async () => {
    const { url, finish } = await compiling();
    const screen = parley(['call', url, 't'], { env: { TERM: 'dumb' } });
    await screen.see('Compiling');
    finish();
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    expect(screen.all).toBe(`${url}, round 1\n| \\u001b]0;owned\\u0007\\u202eCompiling\nCompiled.`);
  });
});

describe('a call that is left and resumed in terminals', () => {
  it('goes on in another process, also after that one was killed', async () => {
    const path = join(folder, 'flow.json');
    const first = parley(['call', releases.url, 'deploy', 'env=prod', '--save', path]);
    expect(await first.ended).toEqual({ code: 4, signal: 0 });
    expect(first.all).toContain('parley resume');
    const second = parley(['resume', path]);
    await second.see('Field 1 of 2');
    second.type(enter);
    await second.see('Field 2 of 2');
    second.type('hello', enter);
    await second.see('Your answers');
    second.type(enter);
    await second.see('Deploy to prod in eu?');
    const state = readFileSync(path, 'utf8');
    second.kill('SIGKILL');
    expect(await second.ended).toMatchObject({ signal: 9 });
    expect(readFileSync(path, 'utf8')).toBe(state);

    const third = parley(['resume', path]);
    await third.see('Deploy to prod in eu?');
    third.type('y', enter);
    await third.see('Your answers');
    third.type(enter);
    expect(await third.ended).toEqual({ code: 0, signal: 0 });
    expect(third.all).toContain('Deployed 1 to prod in eu.');
    expect(existsSync(path)).toBe(false);
  });
});
