import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WrongUse } from '../src/outcome.js';
import { readText, readTextFile } from '../src/text-input.js';
import { temporaryFolder } from './parley.js';

const folder = temporaryFolder();

describe('text from files and streams', () => {
  it('is read as UTF-8, whatever the pieces', async () => {
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'ä€😀');
    expect(await readTextFile(path)).toBe('ä€😀');
    const bytes = [...Buffer.from('ä€😀')].map((byte) => Buffer.of(byte));
    expect(await readText(Readable.from(bytes), 'stdin')).toBe('ä€😀');
  });

  it('is refused when there is no end to it', async () => {
    const zeros = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1 << 20);
      })(),
    );
    await expect(readText(zeros, 'stdin')).rejects.toThrow('stdin is too large (more than 33554432 bytes).');
  });

  it('is refused where there is none', async () => {
    await expect(readTextFile(join(folder, 'b\u001b'))).rejects.toThrow(/\/b\\u001b is not there\.$/);
    await expect(readTextFile(folder, 'The file')).rejects.toThrow('The file is a folder, not a file.');
    await expect(readTextFile(folder)).rejects.toBeInstanceOf(WrongUse);
  });
});
