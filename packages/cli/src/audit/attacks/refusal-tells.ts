import type { Attack, AuditContext, Exchange, Finding, Pause } from '../attack.js';
import { conclude, notApplicable } from '../judge/conclude.js';

/** Words that tell how a state is made, or which check it did not pass. */
const TELLING =
  /\b(?:signature|hmac|mac|decrypt\w*|cipher\w*|json|unexpected token|base64\w*|auth(?:entication)? tag|padding|jwt|key ?id|kid|nonce|another (?:user|tool)|other (?:user|tool)|wrong (?:user|tool|principal)|principal|has expired|at \S+:\d+:\d+)\b/i;

/** STATE-16, GAP-01. */
export const refusalTells: Attack = {
  id: 'refusal-tells',
  title: 'Refusals that tell why',
  rule: 'MRTR, Server Requirements 4: the reason of a refused state is not revealed (STATE-16, GAP-01)',
  severity: 'low',
  sends: 'States that are invented, cut, edited, brought by another caller and brought to another tool.',
  safe: 'Answers all of them with the same error.',
  fix: 'Answer one fixed error for every state that is refused, and write the reason into your own log.',
  async run(context) {
    if (!context.honest.pauses.some(({ state }) => state !== undefined))
      return [notApplicable('The server gives no state.')];
    const refused = await refusals(context);
    const [first] = refused;
    if (!first) return [notApplicable('None of these states is refused.')];
    const findings: Finding[] = [];
    const telling = refused.find(({ exchange }) => TELLING.test(JSON.stringify(exchange.reply.error ?? {})));
    const weak = (found: string, evidence: Exchange): Finding => ({
      verdict: 'weak',
      severity: 'low',
      found,
      evidence,
    });
    if (telling)
      findings.push(weak(`The error for ${telling.name} says what is wrong with it.`, telling.exchange));
    const other = refused.find(({ exchange }) => bodyOf(exchange) !== bodyOf(first.exchange));
    if (other)
      findings.push(
        weak(`${first.name} and ${other.name} are refused with different errors.`, other.exchange),
      );
    return conclude(findings, `${refused.length} kinds of refused states get the same error.`);
  },
};

interface Refusal {
  readonly name: string;
  readonly exchange: Exchange;
}

async function refusals(context: AuditContext): Promise<readonly Refusal[]> {
  const round = context.honest.pauses.find(({ state }) => state !== undefined)?.round ?? 1;
  const ways: readonly (readonly [string, (pause: Pause, state: string) => Promise<Exchange | undefined>])[] =
    [
      ['An invented state', (pause) => context.retry(pause, { state: 'parley-audit' })],
      [
        'a cut state',
        (pause, state) => context.retry(pause, { state: state.slice(0, Math.ceil(state.length / 2)) }),
      ],
      [
        'a state with another character in its middle',
        (pause, state) => context.retry(pause, { state: edited(state) }),
      ],
      [
        'a state of another caller',
        async (pause) =>
          context.callers.has('other') ? context.retry(pause, { caller: 'other' }) : undefined,
      ],
      ['a state of another tool', (pause) => onOtherTool(context, pause)],
    ];
  const refused: Refusal[] = [];
  for (const [name, send] of ways) {
    const pause = await context.walkTo(round);
    const exchange = pause?.state === undefined ? undefined : await send(pause, pause.state);
    if (exchange?.outcome.kind === 'refused') refused.push({ name, exchange });
  }
  return refused;
}

/** Only on a tool that takes these arguments: otherwise they are what is refused. */
async function onOtherTool(context: AuditContext, pause: Pause): Promise<Exchange | undefined> {
  for (const { name } of context.otherTools) {
    const bare = await context.retry(pause, { name, withoutState: true, withoutAnswers: true });
    if (bare.outcome.kind === 'asked') return context.retry(pause, { name });
  }
  return undefined;
}

function edited(state: string): string {
  const at = Math.floor(state.length / 2);
  return `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`;
}

function bodyOf({ reply }: Exchange): string {
  const { code, message, data } = reply.error ?? {};
  return JSON.stringify([reply.status, code, message, data]);
}
