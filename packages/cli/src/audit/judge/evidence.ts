import type { Exchange, Pause } from '../attack.js';

/** A pause as what shows a finding. */
export function evidenceOf({ request, reply, state, questions }: Pause): Exchange {
  return { request, reply, outcome: { kind: 'asked', state, keys: Object.keys(questions) } };
}
