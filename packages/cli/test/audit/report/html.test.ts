import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlReport } from '../../../src/audit/report/html.js';
import type { AuditReport } from '../../../src/audit/report/report.js';
import { attackOf, EXCHANGE, MIXED, reportOf, resultOf } from './fixture.js';

const HOSTILE = `</pre></details><script>document.title="run"</script><img src=x onerror="x"> "'><b>${'w'.repeat(600)}`;

/** A page in which everything that a server or a caller could have written is hostile. */
const hostile: AuditReport = {
  ...reportOf(
    resultOf(
      attackOf('state-edited'),
      {
        verdict: 'broken',
        round: 1,
        found: HOSTILE,
        evidence: {
          ...EXCHANGE,
          reply: {
            error: { code: 1, message: HOSTILE, data: { [HOSTILE]: HOSTILE } },
            serverRequests: [HOSTILE],
            ms: 1,
          },
        },
      },
      { verdict: 'safe', round: 2, found: HOSTILE },
    ),
    resultOf(attackOf('state-kind'), { verdict: 'not-applicable', found: HOSTILE }),
  ),
  target: HOSTILE,
  tool: HOSTILE,
};

const VOID = new Set(['meta', '!doctype', 'br', 'img']);

/** Elements in their order; fails for one that is not closed where it should be. */
function elementsOf(page: string): string[] {
  const seen: string[] = [];
  const open: string[] = [];
  for (const [, close, name = ''] of page.matchAll(/<(\/)?([!a-z][a-z\d]*)[^>]*>/gi)) {
    if (close === undefined) seen.push(name);
    if (close === undefined && !VOID.has(name)) open.push(name);
    if (close !== undefined) expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
  return seen;
}

describe('the report as a page', () => {
  it('closes what it opens, and names no other file', () => {
    const page = htmlReport(MIXED, { print: () => 'curl $STATE' });
    const elements = elementsOf(page);
    expect(elements.filter((name) => name === 'details')).toHaveLength(MIXED.results.length);
    expect(page).not.toMatch(/<[^>]*\s(?:src|srcset)=|@import|url\(|<link/);
    expect(page).toContain('curl $STATE');
  });

  it('has the summary before all else, then faults worst first', () => {
    const text = htmlReport(MIXED);
    const places = [
      'Do not deploy',
      'id="state-edited"',
      'id="refusal-tells"',
      'id="state-oversized"',
      'id="state-kind"',
    ];
    const at = places.map((place) => text.indexOf(place));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(at[0]).toBeGreaterThan(0);
  });

  it('writes what stands between backticks as code, and escapes it there as well', () => {
    const report = reportOf(resultOf(attackOf('a'), { verdict: 'broken', found: 'Field `<i>`: ` alone.' }));
    expect(htmlReport(report)).toContain('Field <code>&lt;i&gt;</code>: ` alone.');
  });

  it('makes text of whatever a server wrote, and writes out what cannot be seen', () => {
    const elements = elementsOf(htmlReport(hostile));
    expect(elements.filter((name) => ['script', 'img', 'b'].includes(name))).toEqual([]);
    expect(htmlReport(MIXED)).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });
});

const BROWSER = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** Shows a page in frames of two widths, with everything opened, and measures it. The page itself stays as it is. */
const PROBE = `<!doctype html><meta charset="utf-8"><title></title><body><script>
const all = [400, 1200].map((width) => new Promise((done) => {
  const frame = document.body.appendChild(document.createElement('iframe'));
  frame.style = 'border:0;height:800px;width:' + width + 'px';
  frame.onload = () => {
    const page = frame.contentDocument;
    for (const each of page.querySelectorAll('details')) each.open = true;
    const { scrollWidth, clientWidth } = page.documentElement;
    done({ width, over: scrollWidth - clientWidth,
      intruders: page.querySelectorAll('script, img, b').length });
  };
  frame.srcdoc = PAGE;
}));
Promise.all(all).then((found) => { document.body.textContent = ''; document.title = JSON.stringify(found); });
</script>`;

describe.skipIf(BROWSER === undefined)('the page in a browser', () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'parley-page-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['an ordinary report', MIXED],
    ['a hostile one', hostile],
  ])('fits 400 and 1200 pixels, runs nothing and complains of nothing: %s', async (_, report) => {
    const file = join(folder, 'probe.html');
    const page = JSON.stringify(htmlReport(report)).replaceAll('<', String.raw`\u003c`);
    await writeFile(
      file,
      PROBE.replace('PAGE', () => page),
    );
    const { stdout, stderr } = await promisify(execFile)(
      BROWSER ?? '',
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--enable-logging=stderr',
        `--user-data-dir=${folder}/data`,
        '--virtual-time-budget=5000',
        '--dump-dom',
        pathToFileURL(file).href,
      ],
      { timeout: 25_000 },
    );
    const title = /<title>(.*?)<\/title>/.exec(stdout)?.[1] ?? '';
    const found = JSON.parse(
      title.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    ) as object[];
    expect(found).toMatchObject([
      { width: 400, over: 0, intruders: 0 },
      { width: 1200, over: 0, intruders: 0 },
    ]);
    expect(stderr).not.toContain(':CONSOLE');
  });
});
