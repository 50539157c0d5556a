import { harmlessJson } from '../../output/json.js';
import { markup, sentence, type Markup } from './markup.js';
import { redact } from './redact.js';
import {
  roundsText,
  severityOf,
  together,
  type AttackResult,
  type ReportOptions,
  type Together,
} from './report.js';
import type { Exchange } from '../attack.js';

/** What an attack found, each with the exchange that shows it. */
export function findingsOf({ attack, findings }: AttackResult, options: ReportOptions): Markup {
  const groups = together(findings).toSorted(
    (a, b) => Number(isFault(b)) - Number(isFault(a)), // otherwise in the order of the rounds
  );
  return markup`${groups.map((group) => {
    const { finding, rounds } = group;
    const heading = [finding.verdict.replace('-', ' '), severityOf(attack, finding), roundsText(rounds)];
    return markup`<div class="finding">
<h3>${heading.filter((part) => part !== undefined && part !== '').join(', ')}</h3>
<p>${sentence(finding.found)}</p>
${finding.evidence === undefined ? '' : evidence(finding.evidence, options)}</div>
`;
  })}`;
}

function isFault({ finding: { verdict } }: Together): boolean {
  return verdict === 'weak' || verdict === 'broken';
}

function evidence(exchange: Exchange, options: ReportOptions): Markup {
  const { caller, method, params, headers, status, reply, reproduce } = redact(exchange, options);
  const sent = { method, params, ...(headers !== undefined && { headers }) };
  return markup`<p class="label">Sent as ${caller === 'anonymous' ? 'nobody' : `the ${caller} caller`}</p>
<pre>${harmlessJson(sent)}</pre>
<p class="label">What came back${status === undefined ? '' : `, with status ${status}`}</p>
<pre>${harmlessJson(reply)}</pre>
${
  reproduce === undefined
    ? ''
    : markup`<p class="label">To see it again</p>
<pre>${reproduce}</pre>
`
}`;
}
