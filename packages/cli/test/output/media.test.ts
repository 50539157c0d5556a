import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MediaFolder } from '../../src/output/media.js';
import { temporaryFolder } from '../parley.js';

const root = temporaryFolder();
const HI = Buffer.from('hi').toString('base64');

describe('a folder for what is no text', () => {
  it('names files by kind, number and type, never by what a server says', async () => {
    const folder = join(root, 'names');
    const media = new MediaFolder(folder);
    const types = [
      'image/png',
      'IMAGE/PNG; a=b',
      'image/../../../etc/passwd',
      '',
      'constructor',
      '\u001b[2J',
    ];
    for (const type of types) await media.write('image', HI, type);
    await media.write('audio', HI);
    expect(readdirSync(folder).toSorted()).toEqual([
      'audio-1.bin',
      'image-1.bin',
      'image-1.png',
      'image-2.bin',
      'image-2.png',
      'image-3.bin',
      'image-4.bin',
    ]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('overwrites nothing, and follows no link', async () => {
    const folder = join(root, 'links');
    mkdirSync(folder);
    const victim = join(root, 'victim');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, join(folder, 'image-1.png'));
    symlinkSync(join(root, 'not-there'), join(folder, 'image-2.png'));
    const path = await new MediaFolder(folder).write('image', HI, 'image/png');
    expect(path).toBe(join(folder, 'image-3.png'));
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(readdirSync(root)).not.toContain('not-there');
  });

  it('takes any number of files', async () => {
    const media = new MediaFolder(join(root, 'many'));
    for (let nth = 1; nth < 1100; nth += 1) await media.write('image', '');
    expect(await media.write('image', '')).toBe(join(root, 'many', 'image-1100.bin'));
    expect(media.fault).toBeUndefined();
  });

  it('is not made when nothing is written', () => {
    void new MediaFolder(join(root, 'unused'));
    expect(readdirSync(root)).not.toContain('unused');
  });
});
