import type { Attack } from '../attack.js';
import { judgeReplay, replayLast } from '../state/replay.js';

const COPIES = 5;

/** The last retry several times at the same moment (STATE-08). */
export const replayAtOnce: Attack = {
  id: 'replay-at-once',
  title: 'The last retry, sent five times at once',
  rule: 'MRTR, Server Requirements 5, warning (STATE-08, STATE-09)',
  severity: 'high',
  sends: 'The last retry of a flow five times at the same moment.',
  safe: 'The effect happens once, whatever it answers to the others.',
  fix: 'Take the flow as done in one atomic step (a unique key, a compare-and-set) before its effect, not after it.',
  alone: true,
  run: async (context) => [
    judgeReplay(
      await replayLast(context, (pause) =>
        Promise.all(Array.from({ length: COPIES }, () => context.retry(pause))),
      ),
      `${COPIES} times at once`,
    ),
  ],
};
