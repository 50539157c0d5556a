import { audit } from '../../src/audit/audit.js';
import { SEVERITIES, type Attack, type Finding, type Severity } from '../../src/audit/attack.js';
import { HttpWire } from '../../src/audit/wire/http-wire.js';

/** A finding and the attack that made it. */
export interface Found extends Finding {
  readonly id: string;
}

/** Audits tool `transfer` of a server as two users and as nobody, with tool `count` for a probe. */
export async function auditTransfer(
  url: string,
  attacks: readonly Attack[],
  waitMs?: number,
): Promise<readonly Found[]> {
  const callers = {
    main: [['Authorization', 'Bearer ann']],
    other: [['Authorization', 'Bearer ben']],
  } as const;
  const { results } = await audit({
    target: url,
    wire: new HttpWire({ url, callers, timeoutMs: 5000 }),
    version: '0.0.0',
    attacks,
    subject: {
      tool: 'transfer',
      arguments: { account: 'current' },
      probe: { tool: 'count', arguments: {} },
      callers: new Set(['main', 'other', 'anonymous']),
      ...(waitMs !== undefined && { waitMs }),
    },
  });
  return results.flatMap(({ attack, findings }) =>
    findings.map((finding) => Object.assign({ id: attack.id }, finding)),
  );
}

/** The worst that each attack found, notes left out; and what could not be told, which is a fault of the audit here. */
export function worstOf(found: readonly Found[]): Readonly<Record<string, Severity | 'unclear'>> {
  const worst = new Map<string, Severity | 'unclear'>();
  for (const { id, verdict, severity } of found) {
    const rank = rankOf(verdict === 'unclear' ? 'unclear' : severity);
    if (rank > Math.max(0, rankOf(worst.get(id))))
      worst.set(id, verdict === 'unclear' ? 'unclear' : (severity ?? 'note'));
  }
  return Object.fromEntries(worst);
}

function rankOf(severity: Severity | 'unclear' | undefined): number {
  if (severity === 'unclear') return SEVERITIES.length;
  return severity === undefined ? -1 : SEVERITIES.indexOf(severity);
}
