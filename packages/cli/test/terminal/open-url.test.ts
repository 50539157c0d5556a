import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openUrl } from '../../src/terminal/open-url.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-open-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Puts a program in place of the one that opens pages. It writes its arguments down, one a line. */
function opener(name: string, exitCode: number) {
  const bin = join(folder, 'bin');
  const path = join(bin, name);
  mkdirSync(bin, { recursive: true });
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/arguments"\nexit ${exitCode}\n`);
  chmodSync(path, 0o755);
  return { env: { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` } };
}

const written = (): string => readFileSync(join(folder, 'arguments'), 'utf8');

describe.skipIf(process.platform === 'win32')('openUrl', () => {
  it.each([
    ['linux', 'xdg-open', ''],
    ['freebsd', 'xdg-open', ''],
    ['darwin', 'open', ''],
    ['win32', 'rundll32', 'url.dll,FileProtocolHandler\n'],
  ] as const)(
    'on %s gives the whole URL to %s as one argument, without a shell (URL-15)',
    async (platform, name, first) => {
      const url = 'https://x.example/?a=b&c=$(id)`id`;%22|"\' *&d=1';
      await openUrl(url, { platform, ...opener(name, 0) });
      expect(written()).toBe(`${first}${url}\n`);
    },
  );

  it('rejects when that cannot open it', async () => {
    await expect(
      openUrl('https://x.example/', { platform: 'linux', ...opener('xdg-open', 3) }),
    ).rejects.toThrow('xdg-open could not open it.');
  });

  it('rejects when there is nothing that opens pages', async () => {
    await expect(openUrl('https://x.example/', { platform: 'linux', env: { PATH: folder } })).rejects.toThrow(
      'ENOENT',
    );
  });
});
