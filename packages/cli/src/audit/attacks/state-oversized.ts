import type { Attack, AuditContext, Changes, Exchange, Finding, Pause } from '../attack.js';
import { answerAll } from '../judge/attempt.js';
import { conclude, notApplicable } from '../judge/conclude.js';
import type { Json } from '../wire/message.js';

const KIB = 1024;
const SIZES = [64 * KIB, KIB * KIB, 3 * KIB * KIB] as const;
const DEPTH = 10_000;

/** Longer than a refusal takes, in ms. */
const SLOW_MS = 3000;

/** STATE-01, GAP-08. */
export const stateOversized: Attack = {
  id: 'state-oversized',
  title: 'States too large, and answers too deep',
  rule: 'MRTR, Server Requirements 4: treat requestState as hostile input (STATE-01); limits (GAP-08)',
  severity: 'medium',
  sends: 'States of 64 KiB, 1 MiB and 3 MiB, and an answer of 10,000 lists within each other.',
  safe: 'Refuses at once with an error, and serves the next request as ever.',
  fix: 'Bound the size of bodies and states before you look into them, and the depth of what you walk through.',
  alone: true,
  async run(context) {
    if (context.honest.pauses.length === 0) return [notApplicable('The flow asks nothing.')];
    const findings: Finding[] = [];
    for (const [what, changesOf] of variants()) {
      const pause = await context.walkTo(1);
      if (!pause) return [...findings, { verdict: 'unclear', round: 1, found: 'A new flow did not begin.' }];
      const exchange = await context.retry(pause, changesOf(pause));
      const finding = await judge(context, what, exchange);
      if (finding) findings.push(finding);
      if (finding?.verdict === 'broken') break; // nothing more can be said of a server that is gone
    }
    return conclude(findings, 'Large states and deep answers are refused at once, and the server lives on.');
  },
};

function variants(): readonly (readonly [string, (pause: Pause) => Changes])[] {
  return [
    ...SIZES.map((size) => [`A state of ${size / KIB} KiB`, () => ({ state: 'A'.repeat(size) })] as const),
    [
      `An answer ${DEPTH} lists deep`,
      (pause) => ({ answers: answerAll(pause, () => ({ action: 'accept', content: { audit: deep() } })) }),
    ],
  ];
}

function deep(): Json {
  let value: Json = 'audit';
  for (let level = 0; level < DEPTH; level += 1) value = [value];
  return value;
}

async function judge(context: AuditContext, what: string, exchange: Exchange): Promise<Finding | undefined> {
  const { outcome, reply } = exchange;
  const lives = (await context.walkTo(1)) ?? (await context.walkTo(1));
  const finding = (verdict: 'weak' | 'broken', severity: 'low' | 'medium', did: string): Finding => ({
    verdict,
    severity,
    round: 1,
    found: `${what}: ${did}.`,
    evidence: exchange,
  });
  if (!lives) return finding('broken', 'medium', 'the server no longer begins a flow afterwards');
  if (reply.ms > SLOW_MS)
    return finding('weak', 'medium', `the server is at it for ${Math.round(reply.ms / 1000)} s`);
  if (outcome.kind !== 'failed') return undefined;
  return outcome.isInternal
    ? finding('weak', 'low', 'the server fails with an internal error instead of refusing')
    : finding('weak', 'low', 'the server drops the connection instead of refusing');
}
