import { findingsOf } from './html-findings.js';
import { STYLE } from './html-style.js';
import { markup, Markup, sentence } from './markup.js';
import {
  faultsOf,
  roundsText,
  severityOf,
  together,
  verdictOf,
  weightOf,
  worstIn,
  type AuditReport,
  type AttackResult,
  type ReportOptions,
} from './report.js';
import { specPage } from './spec-page.js';
import { summaryOf } from './summary.js';
import { overview } from './terminal.js';

/**
 * The report as one page that needs nothing else: no scripts, no files beside it, nothing from a network. Its policy
 * forbids all of that as well, should a server's text ever get through.
 */
export function htmlReport(report: AuditReport, options: ReportOptions = {}): string {
  const summary = summaryOf(report);
  const results = [...report.results].toSorted((a, b) => weight(b) - weight(a));
  const faulty = results.filter((each) => worstIn(each) !== undefined || verdictOf(each) === 'unclear');
  const rest = results.filter((each) => !faulty.includes(each));
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>Audit of ${report.tool}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
<h1>Audit of the tool <code>${report.tool}</code></h1>
<p class="soft">${report.target}</p>
<p class="soft">${overview(report)}</p>
<section class="verdict ${summary.tone}"><strong>${summary.headline}</strong>
${summary.details.map((each) => markup`<p>${each}</p>\n`)}</section>
${faultTable(report)}
${section('What was found', faulty, options)}
${section('What was withstood, or did not apply', rest, options)}
</main>
</body>
</html>
`.text;
}

/** Faults first, by severity; then what is unclear, withstood, and not applicable. */
function weight(result: AttackResult): number {
  const worst = worstIn(result);
  if (worst !== undefined) return weightOf(worst) + 3;
  const verdict = verdictOf(result);
  if (verdict === 'unclear') return 2;
  return verdict === 'safe' ? 1 : 0;
}

function faultTable(report: AuditReport): Markup {
  const ids = new Set(faultsOf(report).map(({ attack }) => attack.id));
  if (ids.size === 0) return markup``;
  const rows = [...ids].flatMap((id) => report.results.filter(({ attack }) => attack.id === id));
  return markup`<h2>Faults and notes</h2>
<table>
<thead><tr><th>Severity</th><th>Attack</th><th>What came of it</th></tr></thead>
<tbody>
${rows.map((result) => faultRow(result))}</tbody>
</table>`;
}

function faultRow(result: AttackResult): Markup {
  const { attack, findings } = result;
  const severity = worstIn(result);
  const worst = findings.filter((finding) => severityOf(attack, finding) === severity);
  return markup`<tr><td>${badge(severity ?? '')}</td><td><a href="#${attack.id}"><code>${attack.id}</code></a></td><td>${together(
    worst,
  ).map(
    ({ finding, rounds }) =>
      markup`<p>${sentence(finding.found)}${rounds.length === 0 ? '' : markup` <span class="soft">(${roundsText(rounds)})</span>`}</p>`,
  )}</td></tr>
`;
}

function section(title: string, results: readonly AttackResult[], options: ReportOptions): Markup {
  if (results.length === 0) return markup``;
  return markup`<h2>${title}</h2>
${results.map((result) => attackBox(result, options))}`;
}

function attackBox(result: AttackResult, options: ReportOptions): Markup {
  const { attack } = result;
  const severity = worstIn(result);
  const isOpen = severity !== undefined && weightOf(severity) >= weightOf('high');
  return markup`<details id="${attack.id}"${isOpen ? markup` open` : ''}>
<summary>${badge(severity ?? verdictOf(result).replace('-', ' '))}<code>${attack.id}</code> <span class="soft">${attack.title}</span></summary>
<div class="inside">
<dl>
<dt>Rule</dt><dd><a href="${specPage(attack.rule)}" rel="noreferrer">${attack.rule}</a></dd>
<dt>What is sent</dt><dd>${sentence(attack.sends)}</dd>
<dt>A safe server</dt><dd>${sentence(attack.safe)}</dd>
<dt>How to mend it</dt><dd>${sentence(attack.fix)}</dd>
</dl>
${findingsOf(result, options)}</div>
</details>
`;
}

function badge(word: string): Markup {
  return markup`<span class="badge ${word}">${word}</span>`;
}
