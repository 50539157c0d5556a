import { handlerOf, MIXED, recordedJournal, type Handler } from '../fixtures/long-flow.js';
import { run } from '../fixtures/parts.js';
import type { Operation, Row } from '../harness/row.js';

/** The operation that replays all of a flow. */
async function replayOf(handler: Handler): Promise<Operation> {
  const journal = await recordedJournal(handler);
  return async () => {
    const outcome = await run(handler, { journal, round: 2, asked: [] });
    if (outcome.type !== 'completed') throw new Error(`The replay has ${outcome.type}.`);
  };
}

export default {
  title: 'Replay: what one recorded entry costs in each later round (µs an entry, the run itself included)',
  leavesOut: 'opening and sealing; there is no peer, since nothing else for TypeScript replays',
  async measure(bench) {
    const scenario = '100 entries, steps and answers in turn';
    const mixed = await replayOf(handlerOf(100, MIXED));
    const found = await bench.compare(scenario, { parley: mixed }, { per: 100 });
    bench.judge(scenario, 'an entry takes', found.time(), { atMost: 4, unit: 'µs' });
    await bench.compare('100 steps', { parley: await replayOf(handlerOf(100, ['step'])) }, { per: 100 });
    await bench.compare('100 answers', { parley: await replayOf(handlerOf(100, ['form'])) }, { per: 100 });
    await bench.compare('an empty run', { parley: await replayOf(handlerOf(0, MIXED)) });
  },
} satisfies Row;
