import type { Attack } from '../attack.js';
import { judgeText } from '../state/judge.js';
import { peel } from '../state/peel.js';
import { jwtForgeriesOf, rewritingsOf } from '../state/rewrite.js';
import { inEachRound, tryAll } from '../state/trials.js';

/** A readable state with other contents (STATE-02), and a JWT that anybody could have signed. */
export const stateRewritten: Attack = {
  id: 'state-rewritten',
  title: 'A readable state with other contents',
  rule: 'MRTR, Server Requirements 4 (STATE-02)',
  severity: 'critical',
  sends:
    'A state that can be decoded with one field changed at a time, encoded as it was; a JWT also unsigned, and signed with well-known keys.',
  safe: 'It answers each with an error.',
  fix: 'Protect the state with a MAC or an AEAD, fix the algorithm in the server, and use a random key of 32 bytes.',
  run: (context) =>
    inEachRound(context, async (pause) =>
      peel(pause.state).length === 0
        ? [{ verdict: 'not-applicable', round: pause.round, found: 'The state cannot be read.' }]
        : tryAll(
            context,
            pause,
            ({ state }) =>
              [...jwtForgeriesOf(state), ...rewritingsOf(state)].map((edit) => ({
                what: edit.what,
                changes: { state: edit.state },
              })),
            judgeText(context),
          ),
    ),
};
