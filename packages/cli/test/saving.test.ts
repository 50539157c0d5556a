import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { SavedFlow } from 'mcp-parley/client';
import { describe, expect, it } from 'vitest';
import { resumeLine, savedCall } from '../src/saving.js';
import { temporaryFolder } from './parley.js';

const root = temporaryFolder();

const FLOW: SavedFlow = {
  format: 'parley-flow',
  version: 1,
  server: { url: 'https://a.example/mcp', principal: null },
  request: { method: 'tools/call', params: { name: 't' } },
  round: 1,
  waits: 0,
  requestState: 's',
  questions: [],
  repeats: { digest: '', times: 0 },
  id: 'x',
  revision: 1,
  beganAt: 0,
  askedAt: 0,
};

describe('a file for a saved call', () => {
  it('that cannot be written fails, in words', async () => {
    const folder = await mkdtemp(join(root, 'gone-'));
    const path = join(folder, 'flow.json');
    const store = savedCall(path, () => undefined);
    rmSync(folder, { recursive: true });
    await expect(store.save(FLOW)).rejects.toMatchObject({
      exitCode: 1,
      message: `The call was not saved: ${path} is not there.`,
    });
  });

  it('that cannot be removed costs no result', async () => {
    const folder = await mkdtemp(join(root, 'kept-'));
    const warnings: string[] = [];
    await savedCall(folder, (line) => void warnings.push(line)).clear();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`Warning: ${folder} was not removed`);
  });
});

describe('the line that goes on with a call', () => {
  const http = { type: 'http', url: 'https://a.example/mcp' } as const;

  it('names the server only where it must be', () => {
    expect(resumeLine('f.json', http, {}, [])).toBe('parley resume f.json');
    expect(resumeLine('a b.json', http, { bearerEnv: 'T', principal: 'ann' }, ['--resend'])).toBe(
      `parley resume 'a b.json' https://a.example/mcp --resend --bearer-env T --principal ann`,
    );
    const stdio = { type: 'stdio', command: ['node', 's.js', '--', '-v'] } as const;
    expect(resumeLine('f.json', stdio, {}, ['--resend'])).toBe(
      'parley resume f.json --resend -- node s.js -- -v',
    );
  });

  it('never holds the value of a header', () => {
    const line = resumeLine('f.json', http, { header: ['X-Key: secret', 'X-B:secret'] }, []);
    expect(line).not.toContain('secret');
    expect(line).toContain(`--header 'X-Key: …' --header 'X-B: …'`);
  });
});
