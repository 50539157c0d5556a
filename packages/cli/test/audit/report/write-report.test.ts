import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkReportFiles, writeReports } from '../../../src/audit/report/write-report.js';
import { Ended, WrongUse } from '../../../src/outcome.js';
import { ANSWER, MIXED, STATE } from './fixture.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'parley-report-'))));
afterEach(() => rm(folder, { recursive: true }));

const inFolder = (...names: readonly string[]) => names.map((name) => join(folder, name));

describe('writing reports', () => {
  it('writes each in the format of its name, and leaves nothing beside them', async () => {
    const files = inFolder('a.html', 'b.JSON', 'c.sarif', 'd.sarif.json');
    await checkReportFiles(files);
    await writeReports(MIXED, files);
    const [html, json, sarif, other] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    expect(html).toMatch(/^<!doctype html>/);
    expect(JSON.parse(json ?? '')).toMatchObject({ format: 'parley-audit/1', worst: 'critical' });
    expect(JSON.parse(sarif ?? '')).toMatchObject({ version: '2.1.0' });
    expect(other).toBe(sarif);
    expect((await readdir(folder)).toSorted()).toEqual(['a.html', 'b.JSON', 'c.sarif', 'd.sarif.json']);
  });

  it('holds no state and no answer in any format, unless it is asked to', async () => {
    const files = inFolder('a.html', 'a.json', 'a.sarif');
    await writeReports(MIXED, files);
    for (const file of files) {
      const text = await readFile(file, 'utf8');
      expect(text).not.toContain(STATE.slice(0, 20));
      expect(text).not.toContain(ANSWER);
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    }
    await writeReports(MIXED, files, { showValues: true });
    expect(await readFile(join(folder, 'a.json'), 'utf8')).toContain(STATE);
    expect((await stat(join(folder, 'a.json'))).mode & 0o077).toBe(0);
  });

  it('replaces what is there', async () => {
    const [file = ''] = inFolder('a.json');
    await writeFile(file, 'old');
    await checkReportFiles([file]);
    await writeReports(MIXED, [file]);
    expect(await readFile(file, 'utf8')).not.toContain('old');
  });

  it.each(['report.txt', 'report', '.html', 'report.html.bak'])('refuses the name %s', async (name) => {
    const files = inFolder('a.json', name);
    await expect(checkReportFiles(files)).rejects.toThrow(WrongUse);
    await expect(writeReports(MIXED, files)).rejects.toThrow(/must end with \.html, \.json or \.sarif/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a file given twice, a folder, and a folder that is not there', async () => {
    await mkdir(join(folder, 'dir.json'));
    await expect(checkReportFiles(inFolder('a.json', './a.json'))).rejects.toThrow(/is given twice/);
    await expect(checkReportFiles(inFolder('dir.json'))).rejects.toThrow(/is a folder/);
    await expect(checkReportFiles(inFolder('no/a.json'))).rejects.toThrow(/its folder is not there/);
  });

  it('says what could not be written, and leaves what was there', async () => {
    await mkdir(join(folder, 'dir.json'));
    const written = writeReports(MIXED, inFolder('dir.json'));
    await expect(written).rejects.toThrow(Ended);
    await expect(written).rejects.toThrow(/The report was not written/);
    expect(await readdir(folder)).toEqual(['dir.json']);
  });
});
