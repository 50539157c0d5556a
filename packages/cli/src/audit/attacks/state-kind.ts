import type { Attack } from '../attack.js';
import { judge } from '../state/judge.js';
import type { Judged } from '../judge/judged.js';
import { inEachRound, tryAll } from '../state/trials.js';

const INVALID_PARAMS = -32_602;

/** A state that is no string (STATE-17). */
export const stateKind: Attack = {
  id: 'state-kind',
  title: 'A state that is no string',
  rule: 'Schema, InputResponseRequestParams (STATE-17)',
  severity: 'medium',
  sends:
    '`requestState` as null, a number, a boolean, an object, an array, and an array that holds the state.',
  safe: 'It answers each with the error -32602.',
  fix: 'Refuse a `requestState` that is not a string with -32602 before anything looks at it; do not convert it.',
  run: (context) =>
    inEachRound(context, (pause) =>
      tryAll(
        context,
        pause,
        ({ state }) =>
          (
            [
              ['null', null],
              ['a number', 0],
              ['a boolean', true],
              ['an object', {}],
              ['an object that holds the state', { requestState: state, state }],
              ['an empty array', []],
              ['an array that holds the state', [state]],
            ] as const
          ).map(([what, kind]) => ({ what, changes: { state: kind } })),
        (at, exchange, { changes }): Judged => {
          const { outcome } = exchange;
          const judged = judge(context, at, exchange, {
            taken: 'medium',
            fresh: changes.state === null ? 'note' : 'low',
          });
          return outcome.kind === 'refused' && outcome.code !== INVALID_PARAMS
            ? {
                verdict: 'weak',
                severity: 'note',
                did: `refused with ${codeOf(outcome)}, where -32602 is due`,
              }
            : judged;
        },
      ),
    ),
};

function codeOf({
  code,
  status,
}: {
  readonly code: number | undefined;
  readonly status: number | undefined;
}): string {
  return code === undefined ? `HTTP status ${String(status)}` : `the error ${code}`;
}
