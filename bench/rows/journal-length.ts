import type { TokenCarrier } from '../../packages/parley/dist/carrier/index.js';
import { randomBytes } from '../../packages/parley/dist/seal/index.js';
import { askingAfter, handlerOf, MIXED, recordedJournal } from '../fixtures/long-flow.js';
import { bind, newCarrier } from '../fixtures/parts.js';
import { playRound } from '../fixtures/rounds.js';
import type { Operation, Row } from '../harness/row.js';

const LENGTHS = [1, 10, 50, 100, 200];

/** A round that finds so many entries in its token, replays them, and asks one question more. */
async function roundAfter(carrier: TokenCarrier, entries: number): Promise<Operation> {
  const handler = handlerOf(entries, MIXED);
  const journal = await recordedJournal(handler);
  const identity = carrier.begin(randomBytes(16), {});
  const { token } = await carrier.seal({ kind: 'flow', asked: [], journal }, identity, bind(), {});
  const asking = askingAfter(handler);
  return () => playRound(carrier, asking, token, undefined);
}

export default {
  title: 'A round by the length of its journal: open, replay all entries, suspend on a question, seal',
  leavesOut: 'the transport and the SDK; entries are steps and answers in turn, of about 100 bytes each',
  async measure(bench) {
    const carrier = newCarrier();
    const times = new Map<number, number>();
    for (const at of LENGTHS) {
      const scenario = `${at} ${at === 1 ? 'entry' : 'entries'}`;
      const found = await bench.compare(scenario, { parley: await roundAfter(carrier, at) }, { at });
      times.set(at, found.time());
    }
    /** What an entry adds, from the first on to so many. */
    const each = (to: number): number =>
      ((times.get(to) ?? Number.NaN) - (times.get(1) ?? Number.NaN)) / (to - 1);
    bench.judge('linear', 'what an entry adds at 200, by what it adds at 50', each(200) / each(50), {
      atMost: 1.25,
      unit: 'x',
    });
  },
} satisfies Row;
