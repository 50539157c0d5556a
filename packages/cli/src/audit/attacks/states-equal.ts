import type { Attack, Finding } from '../attack.js';
import { inEachRound } from '../state/trials.js';

/** Two flows with one state (STATE-05, STATE-08). */
export const statesEqual: Attack = {
  id: 'states-equal',
  title: 'Flows that share a state',
  rule: 'MRTR, Server Requirements 5 (STATE-05, STATE-08)',
  severity: 'medium',
  sends: 'The same flow twice as the main caller, and once as the other, and compares the states.',
  safe: 'Each flow has states of its own.',
  fix: 'Put a random id of the flow into the state, and a random nonce into its encryption.',
  run: (context) =>
    inEachRound(context, async ({ state, round }) => {
      const again = await context.walkTo(round);
      const other = context.callers.has('other') ? await context.walkTo(round, 'other') : undefined;
      const findings: Finding[] = [];
      if (other?.state === state)
        findings.push({
          verdict: 'broken',
          severity: 'medium',
          round,
          found: 'Two callers were given the same state: it is bound to neither.',
        });
      if (again?.state === state)
        findings.push({
          verdict: 'weak',
          severity: 'low',
          round,
          found:
            'Two flows of one caller were given the same state: neither can be used up without the other.',
        });
      return findings.length > 0
        ? findings
        : [{ verdict: 'safe', round, found: 'Each flow was given a state of its own.' }];
    }),
};
