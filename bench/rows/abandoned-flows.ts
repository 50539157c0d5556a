import type { Flow } from '../../packages/parley/dist/flow/index.js';
import { heapInUse } from '../fixtures/heap.js';
import { run, suspended } from '../fixtures/parts.js';
import { WHERE } from '../fixtures/release-flow.js';
import type { Row } from '../harness/row.js';

const FLOWS = 100_000;

/** Holds all that an abandoned handler could hold: a step's result, two pending questions, a `finally`, a listener. */
async function asking(flow: Flow<undefined>): Promise<string> {
  const held = await flow.step('build', () => ({ log: 'x'.repeat(200) }));
  flow.signal.addEventListener('abort', () => held.log);
  try {
    const answers = await Promise.all([
      flow.form('where', { message: 'Which region?', schema: WHERE }),
      flow.confirm('go', 'Go?'),
    ]);
    return `${held.log} ${answers.length}`;
  } finally {
    held.log = '';
  }
}

async function start(flows: number): Promise<void> {
  const batch = 100;
  for (let started = 0; started < flows; started += batch) {
    const outcomes = await Promise.all(Array.from({ length: batch }, () => run(asking, {})));
    outcomes.forEach(suspended);
  }
}

export default {
  title: 'Memory: flows that are started and never continued',
  leavesOut: 'the SDK and the transport',
  async measure(bench) {
    process.stderr.write(`  abandoned-flows: ${FLOWS} flows\n`);
    await start(5_000); // so that compiled code does not count
    const before = await heapInUse();
    await start(FLOWS);
    const megabytes = ((await heapInUse()) - before) / 1e6;
    const scenario = `${FLOWS.toLocaleString('en')} flows of one step and two questions`;
    const value = { median: megabytes, p10: megabytes, p90: megabytes, rounds: 1 };
    bench.add({ scenario, subject: 'parley, heap after gc', unit: 'MB', value });
    bench.judge(scenario, 'the heap grows by', megabytes, { atMost: 5, unit: 'MB' });
  },
} satisfies Row;
