import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { plots } from '../../bench/publish/plots.js';
import { pageOf, publish, readReport } from '../../bench/publish/publish.js';
import { asSvg } from '../../bench/publish/svg.js';

const docs = new URL('../../docs/', import.meta.url);
const report = readReport(fileURLToPath(new URL('performance.json', docs)));

describe('docs/performance.md', () => {
  it('holds the figures that are kept beside it; npm run bench -- --publish-from writes them anew', async () => {
    expect(await pageOf(report)).toBe(readFileSync(new URL('performance.md', docs), 'utf8'));
  });
});

describe('the plots', () => {
  it.each(Object.entries(plots(report)))(
    '%s has a title, a ground of its own, and no hole',
    async (_, spec) => {
      const svg = await asSvg(spec);
      expect(svg).toMatch(/^<svg [^>]*viewBox/);
      expect(svg).toContain('fill="#ffffff"');
      expect(svg).toContain((spec.title as { readonly text: string }).text);
      expect(svg).not.toMatch(/NaN|undefined|null/);
    },
  );
});

describe('publish', () => {
  it('refuses a report in which a row is missing, before anything is written', async () => {
    const before = readFileSync(new URL('performance.json', docs), 'utf8');
    const rows = report.rows.filter(({ name }) => name !== 'entries');
    await expect(publish({ ...report, rows })).rejects.toThrow("no row 'entries'");
    await expect(publish({ ...report, failed: ['tasks'] })).rejects.toThrow('could not be measured: tasks');
    expect(readFileSync(new URL('performance.json', docs), 'utf8')).toBe(before);
  });
});

describe('readReport', () => {
  it('refuses JSON that is no report', () => {
    const file = fileURLToPath(new URL('../../package.json', import.meta.url));
    expect(() => readReport(file)).toThrow('no report of the benchmarks');
  });
});
