import { SEVERITIES } from '../attack.js';
import { faultsOf, verdictOf, type AuditReport, type Fault } from './report.js';

/** What an audit comes to, in words. */
export interface Summary {
  /** How it is to be taken: `bad` is not to be deployed, of `open` nothing was found and not all was tested. */
  readonly tone: 'bad' | 'doubtful' | 'open' | 'good';
  /** Whether it is safe to deploy, in one sentence or two. */
  readonly headline: string;
  /** What was counted, what could not be tested, and what to give to test more. A sentence or two each. */
  readonly details: readonly string[];
}

/** Attacks named in the headline. */
const MOST_NAMED = 3;

/** What each option opens, in the order in which they are told. */
const HINTS: readonly (readonly [option: string, opens: string])[] = [
  ['--as', '--as signs the caller in, so that states can be presented without a sign-in'],
  ['--other', "--other gives a second user's header, so that states can be presented by somebody else"],
  ['--probe', '--probe names a tool that counts effects, so that a doubled effect is seen'],
  ['--wait', '--wait lets it wait until a state should have expired'],
];

/** Says whether what was audited is safe to deploy, as far as the audit can say. */
export function summaryOf(report: AuditReport): Summary {
  const faults = faultsOf(report);
  const verdicts = report.results.map(verdictOf);
  const count = (verdict: string): number => verdicts.filter((each) => each === verdict).length;
  const unclear = report.results.filter((each) => each.findings.some(({ verdict }) => verdict === 'unclear'));
  const tested = verdicts.length - count('not-applicable') - count('unclear');
  const details = [
    `${plural(verdicts.length, 'attack')} in ${plural(report.requests, 'request')}: ${count('safe')} withstood, ` +
      `${count('broken')} broken, ${count('weak')} weak, ${count('unclear')} unclear, ` +
      `${count('not-applicable')} not applicable.`,
    ...(unclear.length === 0
      ? []
      : [
          `Not everything could be tested: ${unclear.map(({ attack }) => attack.id).join(', ')}. Nothing is said of them.`,
        ]),
    ...hints(report),
  ];
  return { ...verdictIn(faults, { tested, unclear: unclear.length }), details };
}

function verdictIn(
  faults: readonly Fault[],
  { tested, unclear }: { tested: number; unclear: number },
): Pick<Summary, 'tone' | 'headline'> {
  const notes = new Set(faults.filter(({ severity }) => severity === 'note').map(({ attack }) => attack.id))
    .size;
  const real = faults.filter(({ severity }) => severity !== 'note');
  const noted = notes === 0 ? '' : ` ${plural(notes, 'note')}.`;
  switch (real[0]?.severity) {
    case 'critical':
    case 'high':
      return { tone: 'bad', headline: `Do not deploy: ${counted(real)} (${named(real)}).` };
    case 'medium':
      return {
        tone: 'doubtful',
        headline: `Deploy after this is mended: ${counted(real)} (${named(real)}).`,
      };
    case 'low':
      return {
        tone: 'doubtful',
        headline: `Nothing stands against deploying, but there is something to mend: ${counted(real)} (${named(real)}).`,
      };
    case 'note': // there is none among these
    case undefined:
      if (tested === 0) return { tone: 'open', headline: 'Nothing can be said: no attack came to an end.' };
      return unclear > 0
        ? { tone: 'open', headline: `No fault was found, but not everything could be tested.${noted}` }
        : { tone: 'good', headline: `No fault was found.${noted}` };
  }
}

/** `2 critical and 1 medium fault`. Several rounds of one attack are one fault. */
function counted(faults: readonly Fault[]): string {
  const worst = new Map<string, string>();
  for (const { attack, severity } of faults) if (!worst.has(attack.id)) worst.set(attack.id, severity);
  const parts = SEVERITIES.toReversed().flatMap((severity) => {
    const times = [...worst.values()].filter((each) => each === severity).length;
    return times === 0 ? [] : [`${times} ${severity}`];
  });
  const last = parts.pop() ?? '';
  return `${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`} ${last.startsWith('1 ') ? 'fault' : 'faults'}`;
}

function named(faults: readonly Fault[]): string {
  const ids = [...new Set(faults.map(({ attack }) => attack.id))];
  const more = ids.length - MOST_NAMED;
  return `${ids.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Attacks say in their findings which option would let them say more. */
function hints({ results }: AuditReport): string[] {
  const said = results
    .flatMap(({ findings }) => findings)
    .filter(({ verdict }) => verdict !== 'safe')
    .map(({ found }) => found);
  const open = HINTS.filter(([option]) => said.some((text) => new RegExp(`${option}(?![\\w-])`).test(text)));
  return open.length === 0 ? [] : [`To test more: ${open.map(([, opens]) => opens).join('; ')}.`];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
