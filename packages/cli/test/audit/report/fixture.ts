import type { Attack, Exchange, Finding } from '../../../src/audit/attack.js';
import type { AttackResult, AuditReport } from '../../../src/audit/report/report.js';

/** A state, and an answer that somebody gave: neither may be seen in a report. */
export const STATE = `eyJyb3VuZCI6Mn0.${'c2VjcmV0LXN0YXRl'.repeat(20)}`;
export const ANSWER = 'ann@example.com';

/** An attack that is run by nobody. */
export function attackOf(id: string, more: Partial<Attack> = {}): Attack {
  return {
    id,
    title: 'A title',
    rule: 'MRTR, Server Requirements 4 (STATE-02)',
    severity: 'critical',
    sends: 'Something.',
    safe: 'It answers an error.',
    fix: 'Seal the state.',
    run: async () => [],
    ...more,
  };
}

export const EXCHANGE: Exchange = {
  request: {
    method: 'tools/call',
    params: {
      name: 'transfer',
      arguments: { account: '7' },
      requestState: STATE,
      inputResponses: { to: { action: 'accept', content: { to: ANSWER, amount: 250_000 } } },
    },
    caller: 'other',
    headers: { 'Mcp-Name': null },
  },
  reply: {
    status: 200,
    result: {
      resultType: 'complete',
      content: [
        { type: 'text', text: `Sent 250000 to ${ANSWER}. <script>alert(1)</script> \u001b[2J\u202e` },
      ],
      requestState: `${STATE}x`,
    },
    serverRequests: [],
    ms: 3,
  },
  outcome: { kind: 'done', result: {} },
};

export function resultOf(attack: Attack, ...findings: readonly Finding[]): AttackResult {
  return { attack, findings, ms: 12.4 };
}

export function reportOf(...results: readonly AttackResult[]): AuditReport {
  return {
    target: 'https://bank.example.com/mcp',
    tool: 'transfer',
    startedAt: '2026-11-30T05:00:00.000Z',
    seconds: 12.34,
    rounds: 3,
    requests: 210,
    results,
  };
}

/** One of everything. */
export const MIXED = reportOf(
  resultOf(attackOf('state-kind', { severity: 'medium' }), {
    verdict: 'safe',
    round: 1,
    found: 'Refused with -32602.',
  }),
  resultOf(
    attackOf('state-edited'),
    { verdict: 'broken', round: 1, found: 'An edited state was taken.', evidence: EXCHANGE },
    { verdict: 'broken', round: 2, found: 'An edited state was taken.', evidence: EXCHANGE },
    { verdict: 'safe', round: 3, found: 'Refused with -32602.' },
  ),
  resultOf(attackOf('refusal-tells', { severity: 'low' }), {
    verdict: 'weak',
    severity: 'low',
    found: 'The error says <b>why</b>: expired.',
  }),
  resultOf(attackOf('replay-in-sequence', { severity: 'high' }), {
    verdict: 'weak',
    severity: 'note',
    found: 'The same retry is taken twice. Give --probe to see whether its effect is doubled.',
  }),
  resultOf(attackOf('state-oversized', { severity: 'medium' }), {
    verdict: 'unclear',
    found: 'No response in 20 s.',
  }),
  resultOf(attackOf('state-other-user'), {
    verdict: 'not-applicable',
    found: 'There is one caller only: give another with --other.',
  }),
);
