import type { Attack } from '../attack.js';
import { asCaller } from '../state/as-caller.js';

/** A state of one user, sent by another (STATE-05, STATE-11, STATE-13, FORM-28). */
export const stateOtherUser: Attack = {
  id: 'state-other-user',
  title: "Another user's state",
  rule: 'MRTR, Server Requirements 5 (STATE-05); Security Best Practices, State Handle Hijacking (STATE-13)',
  severity: 'critical',
  sends: "The main caller's state and answers with the credentials of the other caller.",
  safe: 'It answers with the same error as for an edited state.',
  fix: 'Seal the verified user (not the OAuth client, which many share) into the state, and compare it in each round.',
  run: async (context) => {
    if (!context.callers.has('other'))
      return [{ verdict: 'not-applicable', found: 'There is no other caller; give one with --other.' }];
    if ((await context.walkTo(1, 'other')) === undefined)
      return [
        { verdict: 'unclear', found: 'The other caller cannot begin a flow: its refusal would say nothing.' },
      ];
    return asCaller(context, 'other', 'sent by the other caller');
  },
};
