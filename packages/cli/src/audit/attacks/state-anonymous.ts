import type { Attack } from '../attack.js';
import { asCaller } from '../state/as-caller.js';

/** A state of a user, sent by nobody in particular (STATE-05, STATE-13). */
export const stateAnonymous: Attack = {
  id: 'state-anonymous',
  title: "A user's state without credentials",
  rule: 'MRTR, Server Requirements 5 (STATE-05); Security Best Practices, State Handle Hijacking (STATE-13)',
  severity: 'critical',
  sends: "The main caller's state and answers without any credentials.",
  safe: 'It answers with 401, or with the same error as for an edited state.',
  fix: 'Treat the absence of a user as a user of its own: a state that was made for somebody is for nobody else.',
  run: (context) =>
    context.callers.has('anonymous')
      ? asCaller(context, 'anonymous', 'sent without credentials')
      : Promise.resolve([
          {
            verdict: 'not-applicable',
            found: 'The main caller has no credentials to leave out; give them with --as.',
          },
        ]),
};
