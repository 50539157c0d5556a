import type { Attack, AuditContext, Exchange, Finding } from '../attack.js';
import { roundsOf } from '../judge/attempt.js';
import { conclude, notApplicable } from '../judge/conclude.js';
import type { Changes } from '../attack.js';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const UNKNOWN_VERSION = '1999-01-01';

/** META-01, META-06, META-08, CORE-21. */
export const metaOnRetry: Attack = {
  id: 'meta-on-retry',
  title: 'Retries without what every request says of itself',
  rule: 'Basic, per-request protocol fields: every request has protocolVersion and clientCapabilities (META-01, CORE-21)',
  severity: 'low',
  sends:
    'Honest retries whose _meta is left out, or lacks its version or capabilities, or has others than there are.',
  safe: 'Answers an error.',
  fix: 'Check _meta in every request, retries included; take nothing of it from an earlier one.',
  async run(context) {
    const round = roundsOf(context).at(-1);
    if (round === undefined) return [notApplicable('The flow asks nothing.')];
    const findings: Finding[] = [];
    for (const [what, send] of variants(context)) {
      const exchange = await send(round);
      const { kind } = exchange?.outcome ?? { kind: 'refused' };
      if (!exchange || kind === 'refused') continue;
      findings.push(
        kind === 'failed'
          ? { verdict: 'unclear', round, found: `${what}: the server fails.`, evidence: exchange }
          : {
              verdict: 'broken',
              severity: 'low',
              round,
              found: `${what}: the server takes it.`,
              evidence: exchange,
            },
      );
    }
    return conclude(findings, 'Retries with an incomplete or wrong _meta are refused.');
  },
};

type Variant = readonly [string, (round: number) => Promise<Exchange | undefined>];

function variants(context: AuditContext): readonly Variant[] {
  const changed = (what: string, changes: Changes): Variant => [
    what,
    async (round) => {
      const pause = await context.walkTo(round);
      return pause && context.retry(pause, changes);
    },
  ];
  const unknown = {
    meta: { [VERSION]: UNKNOWN_VERSION },
    headers: { 'MCP-Protocol-Version': UNKNOWN_VERSION },
  };
  return [
    [
      'No _meta',
      async (round) => {
        const pause = await context.walkTo(round);
        if (!pause) return undefined;
        const request = context.retryOf(pause);
        const { _meta, ...params } = request.params;
        return context.send({ ...request, params });
      },
    ],
    changed('No protocolVersion', { meta: { [VERSION]: null } }),
    changed('A protocolVersion that there is not', unknown),
    changed('No clientCapabilities', { meta: { [CAPABILITIES]: null } }),
    changed('A text for clientCapabilities', { meta: { [CAPABILITIES]: 'elicitation' } }),
    changed('A list for clientCapabilities', { meta: { [CAPABILITIES]: [] } }),
  ];
}
