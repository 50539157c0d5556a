import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateKey } from 'mcp-parley';
import { parley, temporaryFolder, TERMINAL, type Ran } from '../parley.js';
import { flowsServer, type Done } from '../servers/flows.js';
import { serve, type Loopback } from '../servers/http.js';

const folder = temporaryFolder();
const finished: Done = new Map();
let server: Loopback;
beforeAll(async () => void (server = await serve(flowsServer(generateKey(), finished))));
afterAll(() => server.close());

let files = 0;

/** Writes a file into the test's folder. */
function file(content: unknown): string {
  const path = join(folder, `file-${(files += 1)}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function call(...args: string[]): Promise<Ran> {
  return parley(['call', server.url, ...args]);
}

const YES = { region: { region: 'eu' }, go: { confirm: true } };

describe('parley call', () => {
  it('drives a tool with the answers of a file, and prints its result and nothing else on stdout', async () => {
    const { code, out, err } = await call('deploy', 'env=prod', '--answers', file(YES));
    expect({ code, out }).toEqual({ code: 0, out: 'Deployed 1 to prod in eu.\n' });
    expect(err).toContain(`${server.url} asks: Which region?\n  accept, from`);
  });

  it('with --quiet says nothing beside the result', async () => {
    const { code, err } = await call('deploy', 'env=prod', '--answers', file(YES), '--quiet');
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('makes of name=value what the schema says', async () => {
    const words = ['env=staging', 'count=3', 'tags=["a","b"]'];
    const { out } = await call('deploy', ...words, '--answers', file(YES));
    expect(out).toBe('Deployed 3 to staging in eu #a #b.\n');
  });

  it.each([
    [['text=5'], '{"text":"5"}'],
    [['text:="a=b"'], '{"text":"a=b"}'],
    [['other:={"a":[1]}'], '{"other":{"a":[1]}}'],
    [['--json', '{"text":"a","n":1}', 'text=b'], '{"text":"b","n":1}'],
  ])('%j arrive at the tool as %s', async (args, expected) => {
    const { code, out } = await call('echo', ...args);
    expect({ code, arguments: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      arguments: JSON.parse(expected) as unknown,
    });
  });

  it('takes the arguments from stdin, and from a file', async () => {
    const args = ['call', server.url, 'echo', '--json'];
    expect((await parley([...args, '-'], { stdin: '{"text":"in"}' })).out).toBe('{"text":"in"}\n');
    expect((await parley([...args, `@${file({ text: 'file' })}`])).out).toBe('{"text":"file"}\n');
  });

  it('asks nobody at a terminal whose input was the arguments', async () => {
    const args = ['call', server.url, 'deploy', '--json', '-'];
    const { code, err } = await parley(args, { terminal: TERMINAL, stdin: '{"env":"prod"}' });
    expect(code).toBe(4);
    expect(err).toContain('There is no terminal to ask at.');
  });

  it.each([
    [['deploi'], /has no tool 'deploi'\. Did you mean deploy\?\nAll of them: parley tools http/],
    [
      ['deploy'],
      /Missing: env\.\ndeploy takes:\n {2}env: one of prod, staging, required\n {2}count: integer/,
    ],
    [['deploy', 'evn=prod'], /no parameter 'evn'\. Did you mean env\?\ndeploy takes:/],
    [['deploy', 'env=moon'], /'env' is to be one of "prod", "staging"\.\ndeploy takes:/],
    [['deploy', 'env=prod', 'count=1.5'], /'count' is to be a whole number/],
    [['deploy', 'env=prod', 'count='], /'count' is to be a whole number/],
    [['deploy', 'env=prod', 'tags=a'], /'tags' is to be a list as JSON/],
    [['deploy', 'env=prod', 'env=prod'], /'env' is given twice/],
    [['deploy', 'env'], /'env' is not of the form name=value/],
    [['deploy', 'env:=prod'], /What follows env:= is not JSON/],
    [['deploy', '--json', '{"env"'], /What follows --json is not JSON/],
    [['deploy', '--json', '[1]'], /is JSON, but not an object/],
    [['deploy', '--json', '@nowhere.json'], /nowhere\.json is not there/],
    [['deploy', 'env=prod', '--output', 'xml'], /Allowed choices are text, json/],
    [['deploy', 'env=prod', '--output', 'json', '--media-dir', 'x'], /--media-dir goes with --output text/],
    [['deploy', 'env=prod', '--timeout', 'soon'], /length of time/],
    [['deploy', 'env=prod', '--max-rounds', '0'], /whole number from 1/],
    [['deploy', 'env=prod', '--save', ''], /It must be the name of a file, and is empty/],
    [['deploy', 'env=prod', '--answers', ''], /is empty/],
    [['media', '--media-dir', ''], /is empty/],
    [['media', '--media-dir', join(folder, 'no', 'such')], /cannot be made: its folder is not there/],
    [['media', '--media-dir', import.meta.filename], /call\.test\.ts is not a folder/],
    [['media', '--media-dir', '/proc/nothing/x'], /cannot be made: its folder is not there/],
    [[], /Name a tool/],
  ])('%j ends with code 2, and nothing on stdout', async (args, message) => {
    const { code, out, err } = await call(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });

  it.each([
    [['call', 'deploy'], /Name the server/],
    [['call', 'ftp://host/x', 'deploy'], /Name the server/],
    [['call', 'https://', 'deploy'], /not a URL/],
    [['call', 'https://ann:secret@host/mcp', 'deploy'], /holds credentials/],
    [['call', 'https://host/mcp', 'deploy', '--', 'node', 'x.js'], /Name one server/],
    [['call', 'deploy', '--'], /Nothing stands behind --/],
    [['call', '--', '--', 'deploy'], /Nothing stands behind --/],
    [['tools', 'https://host/mcp', 'more'], /words behind the server/],
    [['keygen', '--', 'x'], /too many arguments/],
  ])('%j ends with code 2', async (args, message) => {
    const { code, err } = await parley(args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).not.toContain('secret');
  });

  it('a tool that reports an error: its text on stdout, code 3', async () => {
    const { code, out, err } = await call('fail');
    expect({ code, out }).toEqual({ code: 3, out: 'The disk is full.\n' });
    expect(err).toBe('parley: The tool reports an error.\n');
  });

  it('an error of the protocol: code 1, and the server named', async () => {
    const { code, out, err } = await call('deploy', '--json', '{"env":"moon"}');
    expect({ code, out }).toMatchObject({ code: 3 }); // the SDK makes a tool error of it
    expect(err).toContain('The tool reports an error');
    const missing = await parley(['read', server.url, 'releases://none']);
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toMatch(/^parley: http\S+: it answers with error -32602: /);
  });

  it('writes what is no text to files that only their owner reads, and prints their paths', async () => {
    const { code, out } = await call('media', '--media-dir', join(folder, 'media'));
    const [text, image, odd, audio, pdf, link] = out.split('\n');
    expect({ code, text, link }).toEqual({ code: 0, text: 'A pixel, twice:', link: 'test://more (more)' });
    expect([image, odd, audio, pdf].map((path) => path?.replace(join(folder, 'media'), '…'))).toEqual([
      '…/image-1.png',
      '…/image-1.bin',
      '…/audio-1.wav',
      '…/resource-1.pdf',
    ]);
    expect(readFileSync(pdf ?? '', 'utf8')).toBe('hi');
    expect(statSync(image ?? '').mode & 0o777).toBe(0o600);
    const again = await call('media', '--media-dir', join(folder, 'media'));
    expect(again.out).toContain('image-2.png');
  });

  it('makes a new folder for them by default, for their owner only', async () => {
    const { out } = await call('media');
    const path = out.split('\n')[1] ?? '';
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    rmSync(dirname(path), { recursive: true });
  });

  it('says when they cannot be written, and prints the rest', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'nowhere'));
    const { code, out, err } = await call('media');
    vi.unstubAllEnvs();
    expect(code).toBe(1);
    expect(out).toMatch(/^A pixel, twice:\n\(image not written\)\n[^]*test:\/\/more \(more\)\n$/);
    expect(err).toMatch(/^parley: The image was not written: \S+ is not there\.\n$/);
  });

  it('prints structured content where there is no text, and everything with --output json', async () => {
    expect((await call('weather')).out).toBe('{\n  "degrees": 21\n}\n');
    const { out } = await call('weather', '--output', 'json');
    expect(JSON.parse(out)).toMatchObject({ content: [], structuredContent: { degrees: 21 } });
  });

  it('prints a large result whole', async () => {
    expect((await call('large')).out).toHaveLength(5_000_001);
  });

  describe('questions', () => {
    it('without a terminal and answers: fails at once, names what is asked and how to answer', async () => {
      const { code, out, err } = await call('deploy', 'env=prod');
      expect({ code, out }).toEqual({ code: 4, out: '' });
      expect(err).toBe(
        `parley: ${server.url} asks:\n` +
          '  "region": Which region?\n' +
          '      region: one of "eu", "us", required\n' +
          '      note: text, at most 20 characters\n\n' +
          'There is no terminal to ask at. Answer from a file (--answers answers.json), or keep the call for later ' +
          '(--save flow.json).\n',
      );
    });

    it('an answer that is missing in the file fails, and names its key and fields', async () => {
      const path = file({ region: { region: 'us' }, Go: { confirm: true } });
      const { code, err } = await call('deploy', 'env=prod', '--answers', path);
      expect(code).toBe(4);
      expect(err).toContain('  "go": Deploy to prod in us?\n      confirm: true or false, required\n');
      expect(err).toContain(`${path} has no answer to that.`);
      expect(err).toContain(`Warning: ${path}: no question "Go" was asked.`);
    });

    it('of several questions in a round names those that are missing', async () => {
      const { code, err } = await call('two', '--quiet', '--answers', file({ one: { text: 'a' } }));
      expect(code).toBe(4);
      expect(err).toContain('"two": Two?');
      expect(err).not.toContain('One?');
      expect(err).not.toContain('asked again');
    });

    it('an answer that does not fit fails with the reason of the schema, and does not leave', async () => {
      const path = file({ region: { region: 'mars' } });
      const { code, err } = await call('deploy', 'env=prod', '--answers', path);
      expect(code).toBe(4);
      expect(err).toMatch(/file-\d+\.json: The answer to "region" was not sent: 'region' must be one of/);
      expect(err).not.toContain('mars');
    });

    it('a refusal is an answer', async () => {
      const { code, out } = await call(
        'deploy',
        'env=prod',
        '--answers',
        file({ region: { action: 'accept', content: { region: 'us' } }, go: { action: 'decline' } }),
      );
      expect({ code, out }).toEqual({ code: 0, out: 'Not deployed.\n' });
    });

    it('a page is consented to by the file, shown, and not opened', async () => {
      const args = ['sign-in', '--quiet', '--answers', file({ page: { action: 'accept' } })];
      const { code, out, err } = await call(...args);
      expect({ code, out }).toEqual({ code: 0, out: 'The page: accept.\n' });
      expect(err).toContain('https://login.example.com/start?id=1');
      const content = await call('sign-in', '--answers', file({ page: { yes: true } }));
      expect(content.code).toBe(4);
      expect(content.err).toContain('{ "action": "accept" }');
    });

    it('tells at the end what the file held in vain', async () => {
      const path = file({ ...YES, go: [{ confirm: true }, { confirm: false }], other: {} });
      const { code, err } = await call('deploy', 'env=prod', '--answers', path);
      expect(code).toBe(0);
      expect(err).toContain(`Warning: ${path}: no question "other" was asked.`);
      expect(err).toContain(`Warning: ${path}: "go" has 2 answers, and was asked 1 times.`);
    });

    it.each([
      ['a file that is not there', 'nowhere.json', /nowhere\.json is not there/],
      ['a folder', '.', /is a folder/],
    ])('%s ends with code 2', async (_, path, message) => {
      const { code, err } = await call('deploy', 'env=prod', '--answers', path);
      expect(code).toBe(2);
      expect(err).toMatch(message);
    });

    it.each([
      ['{"region": {"region": "secret"', /is not JSON/],
      ['[]', /is JSON, but not an object/],
      ['{"region": "eu"}', /the answer to "region" is not an object/],
      ['{"region": []}', /the answer to "region" is not an object/],
      ['', /is not JSON/],
    ])('a file that holds %s ends with code 2, and none of it is shown', async (content, message) => {
      const { code, err } = await call('deploy', 'env=prod', '--answers', file(content));
      expect(code).toBe(2);
      expect(err).toMatch(message);
      expect(err).not.toContain('secret');
    });

    it('more rounds than --max-rounds: code 1', async () => {
      const args = ['--max-rounds', '1', '--answers', file(YES)];
      const { code, err } = await call('deploy', 'env=prod', ...args);
      expect(code).toBe(1);
      expect(err).toMatch(/given up at its bound \(--max-rounds: 1\)/);
    });
  });

  it('does the work once', async () => {
    finished.clear();
    await call('deploy', 'env=prod', '--answers', file(YES));
    expect(finished.get('release')).toBe(1);
  });

  it('--save of a call that asks nothing leaves no file', async () => {
    const path = join(folder, 'nothing.json');
    expect(await call('fail', '--save', path)).toMatchObject({ code: 3 });
    expect(existsSync(path)).toBe(false);
  });
});
