import {
  DEFAULT_FLOW_LIMITS,
  type Flow,
  type RestrictedSchema,
} from '../../packages/parley/dist/flow/index.js';
import { run } from '../fixtures/parts.js';
import type { Row } from '../harness/row.js';

type Handler = (flow: Flow<undefined>) => Promise<string>;

const FORM = {
  type: 'object',
  properties: { region: { type: 'string', enum: ['eu', 'us'] }, count: { type: 'integer', minimum: 1 } },
  required: ['region'],
} as const satisfies RestrictedSchema;
const ANSWER = { action: 'accept', content: { region: 'eu', count: 3 } };
const RESULT = { id: 'job-17', url: 'https://ci.example.com/job/17', seconds: 12.5 };

/** Calls one after the other, as `kinds` say in turn. */
function handlerOf(entries: number, kinds: readonly ('step' | 'form')[]): Handler {
  return async (flow) => {
    for (let index = 0; index < entries; index += 1) {
      if (kinds[index % kinds.length] === 'step') await flow.step(`step-${index}`, () => RESULT);
      else await flow.form(`form-${index}`, { message: 'Which region, and how many?', schema: FORM });
    }
    return 'done';
  };
}

/** Records the flow in one go; gives the operation that replays all of it. */
async function replayOf(handler: Handler): Promise<() => Promise<unknown>> {
  const { type, journal } = await run(handler, {
    limits: { ...DEFAULT_FLOW_LIMITS, rounds: 1_000 },
    inPlace: (questions) => Promise.resolve(Object.fromEntries(questions.map(({ key }) => [key, ANSWER]))),
  });
  if (type !== 'completed') throw new Error(`The flow to record has ${type}.`);
  return async () => {
    const outcome = await run(handler, { journal, round: 2, asked: [] });
    if (outcome.type !== 'completed') throw new Error(`The replay has ${outcome.type}.`);
  };
}

const MIXED = ['step', 'form'] as const;

export default {
  title: 'Replay: what one recorded entry costs in each later round (µs an entry, the run itself included)',
  leavesOut: 'opening and sealing; there is no peer, since nothing else for TypeScript replays',
  async measure(bench) {
    for (const entries of [1, 10, 50, 100, 200]) {
      const scenario = `${entries} ${entries === 1 ? 'entry' : 'entries'}, steps and answers in turn`;
      const replay = await replayOf(handlerOf(entries, MIXED));
      const found = await bench.compare(scenario, { parley: replay }, { per: entries });
      if (entries === 100) bench.judge(scenario, 'an entry takes', found.time(), { atMost: 4, unit: 'µs' });
    }
    await bench.compare('100 steps', { parley: await replayOf(handlerOf(100, ['step'])) }, { per: 100 });
    await bench.compare('100 answers', { parley: await replayOf(handlerOf(100, ['form'])) }, { per: 100 });
    await bench.compare('an empty run', { parley: await replayOf(handlerOf(0, MIXED)) });
  },
} satisfies Row;
