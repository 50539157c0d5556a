import type { Attack } from '../attack.js';
import { otherArguments } from '../state/other-arguments.js';
import { judge } from '../state/judge.js';
import { inEachRound, tryAll } from '../state/trials.js';

/** A state with other arguments (STATE-07, MRTR-S-17). */
export const stateOtherArguments: Attack = {
  id: 'state-other-arguments',
  title: 'A state with other arguments',
  rule: 'MRTR, Server Requirements 5 (STATE-07); Tools, Security Considerations 1 (MRTR-S-17)',
  severity: 'high',
  sends: 'The honest retry with one argument of the tool changed, within its schema.',
  safe: 'It answers with an error: the questions were asked about other arguments.',
  fix: "Put a digest of the arguments into what the state's tag covers, and compare it in each round.",
  run: (context) => {
    const variants = otherArguments(context.tool);
    return variants.length === 0
      ? Promise.resolve([
          { verdict: 'not-applicable', found: 'The tool has no argument that can be changed.' },
        ])
      : inEachRound(context, (pause) =>
          tryAll(
            context,
            pause,
            () =>
              variants.map(({ field, changed }) => ({
                what: `with another \`${field}\``,
                changes: { arguments: changed },
              })),
            (at, exchange) => judge(context, at, exchange, { taken: 'high', fresh: 'low' }),
          ),
        );
  },
};
