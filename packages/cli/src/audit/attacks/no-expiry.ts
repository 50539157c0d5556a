import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.js';
import { judge } from '../state/judge.js';
import { hasState, NO_STATE, notReached, tryAll } from '../state/trials.js';

/** A state that is older than it should be (STATE-06). */
export const noExpiry: Attack = {
  id: 'no-expiry',
  title: 'An old state',
  rule: 'MRTR, Server Requirements 5 (STATE-06)',
  severity: 'medium',
  sends: 'The honest retry of the first round, after the time of --wait.',
  safe: 'It answers with an error: the state has expired.',
  fix: 'Put a short expiry into what the state covers, and compare it in each round.',
  async run(context) {
    const { waitMs, honest } = context;
    if (waitMs === undefined)
      return [
        {
          verdict: 'not-applicable',
          found: 'Nothing was waited for; give --wait, longer than a state should live.',
        },
      ];
    const round = honest.pauses.find(({ state }) => state !== undefined)?.round;
    if (round === undefined) return NO_STATE;
    const pause = await context.walkTo(round);
    if (!hasState(pause)) return [notReached(round)];
    // Who runs the attacks has a timer of its own: an audit that was stopped need not wait for this one.
    await sleep(waitMs, undefined, { ref: false });
    return tryAll(
      context,
      pause,
      () => [{ what: `after ${Math.round(waitMs / 1000)} s`, changes: {} }],
      (at, exchange) => judge(context, at, exchange, { taken: 'medium', fresh: 'low' }),
    );
  },
};
