import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWords } from '../src/shell-words.js';

describe('words for a shell', () => {
  it('are quoted where they need it', () => {
    expect(shellWords(['node', '/srv/a b.js', '--x=1', "it's", '', '$(rm)'])).toBe(
      String.raw`node '/srv/a b.js' --x=1 'it'\''s' '' '$(rm)'`,
    );
  });

  it('show what cannot be seen', () => {
    expect(shellWords(['a\u001b[2J\nb'])).toBe(String.raw`'a\u001b[2J b'`);
  });

  it.skipIf(process.platform === 'win32')('mean to a shell what they are', () => {
    const printable = fc.stringMatching(/^[ -~]*$/);
    fc.assert(
      fc.property(fc.array(printable, { maxLength: 5 }), (words) => {
        const out = execFileSync('/bin/sh', ['-c', `printf '%s\\n' x ${shellWords(words)}`], {
          encoding: 'utf8',
        });
        expect(out).toBe(['x', ...words, ''].join('\n'));
      }),
      { numRuns: 30 },
    );
  });
});
