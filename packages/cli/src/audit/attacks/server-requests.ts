import type { Attack, Exchange, Finding } from '../attack.js';
import { conclude } from '../judge/conclude.js';
import { evidenceOf } from '../judge/evidence.js';

/** MRTR-S-01, CORE-12. */
export const serverRequests: Attack = {
  id: 'server-requests',
  title: 'Requests that the server sends',
  rule: 'MRTR, opening note: questions travel inside results only (MRTR-S-01); Patterns: servers send no requests (CORE-12)',
  severity: 'high',
  sends: 'Nothing of its own: looks at what came in the honest run.',
  safe: 'Sends responses and notifications only.',
  fix: 'Return the question in an input_required result instead of sending it as a request on the stream.',
  run({ honest }) {
    const findings: Finding[] = [];
    const exchanges: readonly (Exchange & { readonly round: number })[] = [
      ...honest.pauses.map((pause) => ({ round: pause.round, ...evidenceOf(pause) })),
      { round: honest.pauses.length + 1, ...honest.last },
    ];
    for (const { round, ...evidence } of exchanges) {
      const methods = [...new Set(evidence.reply.serverRequests)];
      if (methods.length === 0) continue;
      const found = `The server sent a request of its own: ${methods.join(', ').slice(0, 200)}.`;
      findings.push({ verdict: 'broken', severity: 'high', round, found, evidence });
    }
    return Promise.resolve(conclude(findings, 'The server sent no requests.'));
  },
};
