import type { Attack } from '../attack.js';
import { judgeText } from '../state/judge.js';
import { editsOf } from '../state/mutate.js';
import { inEachRound, tryAll } from '../state/trials.js';

/** Bits flipped, cut, extended, joined (STATE-01, STATE-02, STATE-03). */
export const stateEdited: Attack = {
  id: 'state-edited',
  title: 'A state that was edited',
  rule: 'MRTR, Server Requirements 4 (STATE-01, STATE-02, STATE-03)',
  severity: 'critical',
  sends:
    'The state with bits flipped in each of its parts, cut, emptied, extended, doubled, and mixed with the state of another flow.',
  safe: 'It answers each with an error, and neither goes on nor asks afresh.',
  fix: 'Seal the state with an AEAD or a MAC over all of it, compare all of the tag, and refuse what does not verify.',
  run: (context) =>
    inEachRound(context, async (pause) => {
      const other = await context.walkTo(pause.round);
      return tryAll(
        context,
        pause,
        ({ state }) =>
          editsOf(state, other?.state).map((edit) => ({ what: edit.what, changes: { state: edit.state } })),
        judgeText(context),
      );
    }),
};
