import type { Attack } from '../attack.js';
import { went } from '../state/judge.js';
import { reencodingsOf } from '../state/mutate.js';
import { inEachRound, tryAll } from '../state/trials.js';

/** The same bytes in other text (STATE-08: a cache of used states that knows them by their text). */
export const stateReencoded: Attack = {
  id: 'state-reencoded',
  title: 'The same state, written otherwise',
  rule: 'MRTR, Server Requirements 5, warning (STATE-08)',
  severity: 'note',
  sends:
    'The same bytes as other text: with padding, spaces or newlines, in the other alphabet of base64, with another last character.',
  safe: 'It takes only the one text that it gave.',
  fix: 'Compare the state with its own encoding after decoding it, or know used states by what is inside them, not by their text.',
  run: (context) =>
    inEachRound(context, (pause) =>
      tryAll(
        context,
        pause,
        ({ state }) =>
          reencodingsOf(state).map((edit) => ({ what: edit.what, changes: { state: edit.state } })),
        (at, exchange) => {
          const way = went(context, at, exchange);
          if (way === 'silent') return { verdict: 'unclear', did: 'not answered' };
          return way === 'on'
            ? {
                verdict: 'weak',
                severity: 'note',
                did: 'taken; a server that knows used states by their text can be replayed',
              }
            : { verdict: 'safe', did: 'not taken' };
        },
      ),
    ),
};
