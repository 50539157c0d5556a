import type { Attack } from '../attack.js';
import { judgeReplay, replayLast } from '../state/replay.js';

/** The last retry once more (STATE-08, STATE-09). */
export const replayInSequence: Attack = {
  id: 'replay-in-sequence',
  title: 'The last retry, sent twice',
  rule: 'MRTR, Server Requirements 5, warning (STATE-08, STATE-09)',
  severity: 'high',
  sends: 'The last retry of a flow, and after its answer the same once more.',
  safe: 'It refuses the second, or answers as before without a second effect.',
  fix: 'Record in the server, under an id from inside the state, that the flow is done, together with its effect.',
  alone: true,
  run: async (context) => [
    judgeReplay(
      await replayLast(context, async (pause) => [await context.retry(pause), await context.retry(pause)]),
      'twice in sequence',
    ),
  ],
};
