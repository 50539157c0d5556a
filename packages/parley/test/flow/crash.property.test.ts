import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { questionDigest } from '../../src/carrier/index.js';
import { ParleyError } from '../../src/errors.js';
import { isKeyed, readEntry as read, type JournalEntry } from '../../src/flow/journal.js';
import type { Journal, KeyedQuestion, RunOutcome } from '../../src/flow/index.js';
import { rehearse, wire, type RehearsedAnswer } from '../../src/testing/index.js';
import { asWireAnswer } from '../../src/testing/answers.js';
import { runRound, testHost, type TestInput } from './host.js';
import { compile, hash, programs, Trace, type Features, type Program } from './program.js';

/*
 * A flow that detaches somewhere, and whose process then dies again and again while it commits, must go on as if
 * nothing had happened: with what was committed, in the order in which it was handed over, and with the values that
 * work was begun with.
 */

const MANY = 64;
const limits = { rounds: 8 * MANY, questions: MANY };

/** Where the process dies: at the n-th commit of a run, which was written (and the worker not told) or not. */
interface Crash {
  readonly at: number;
  readonly written: boolean;
}

const crashes = fc.array(fc.record({ at: fc.integer({ min: 1, max: 3 }), written: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

/** A program in which the flow certainly becomes a task, somewhere at its top. */
function tasks(features: Features): fc.Arbitrary<Program> {
  return fc.tuple(programs({ ...features, detach: true }), fc.nat()).map(([program, at]) => {
    if (program.type !== 'sequence') return program;
    return {
      type: 'sequence',
      parts: program.parts.toSpliced(at % program.parts.length, 0, { type: 'detach' }),
    };
  });
}

/** The answer is a function of the key. Nobody refuses: which of several failures comes first is a race. */
function consent({ key, question }: KeyedQuestion): RehearsedAnswer {
  if (question.kind === 'url') return {};
  return JSON.stringify(question.params).includes('"confirm"')
    ? hash(key) % 2 === 0
    : { text: `answer ${key}` };
}

/** As `consent`; every third question gets something unreadable first. */
function hesitant(): (question: KeyedQuestion) => RehearsedAnswer {
  const asked = new Set<string>();
  return (question) => {
    const first = !asked.has(question.key);
    asked.add(question.key);
    return first && hash(`first ${question.key}`) % 3 === 0 ? wire('unreadable') : consent(question);
  };
}

const keysOf = (journal: Journal): string[] =>
  journal.flatMap((line) => {
    const entry: JournalEntry = read(line);
    return isKeyed(entry) ? [entry.key] : [];
  });

/** What a flow did over all of its runs, held against what was durable at each moment. */
class CrashTrace extends Trace {
  /** What must not happen: work that is done again though its result is durable, other values than work began with. */
  readonly broken: string[] = [];
  /** The keys whose results were handed to the handler, in this run. */
  settledInRun: string[] = [];
  readonly #durable: () => readonly string[];
  readonly #pinned = new Map<string, number | string>();
  #drawn = new Map<string, number | string>();

  constructor(durable: () => readonly string[]) {
    super();
    this.#durable = durable;
  }

  beginRun(): void {
    this.settledInRun = [];
    this.#drawn = new Map();
  }

  override ran(key: string): void {
    super.ran(key);
    if (this.#durable().includes(key)) this.broken.push(`${key} was done again`);
    for (const [at, value] of this.#drawn) this.#pinned.set(at, value);
  }

  override drew(key: string, value: number | string): void {
    if (this.#pinned.has(key) && this.#pinned.get(key) !== value)
      this.broken.push(`${key} drew another value`);
    this.#drawn.set(key, value);
  }

  override settled(key: string): void {
    this.settledInRun.push(key);
    for (const [at, value] of this.#drawn) this.#pinned.set(at, value);
  }
}

interface Ran {
  readonly outcome: RunOutcome<string>;
  readonly trace: CrashTrace;
  readonly crashed: number;
  readonly runs: number;
}

class Crashed extends Error {}

/** Runs a program as rounds until it detaches, and from there as a task whose process dies as planned. */
async function run(
  program: Program,
  planned: readonly Crash[],
  answer: (question: KeyedQuestion) => RehearsedAnswer,
): Promise<Ran> {
  let durable: Journal = [];
  const trace = new CrashTrace(() => keysOf(durable));
  const handler = compile(program, trace);
  const host = testHost({ digest: questionDigest });
  const left = [...planned];
  let from: TestInput = { asked: undefined, detached: 'possible' };
  let crashed = 0;
  let before: string[] = [];
  for (let runs = 1; ; runs += 1) {
    const crash = from.detached === 'done' ? left[0] : undefined;
    let commits = 0;
    const commit = async (lines: readonly string[]): Promise<void> => {
      commits += 1;
      const dies = commits === crash?.at;
      if (!dies || crash.written) durable = durable.concat(lines);
      if (dies) throw new Crashed();
      await undefined;
    };
    trace.beginRun();
    const outcome = await runRound(handler, {
      ...from,
      journal: durable,
      limits,
      host,
      ...(from.detached === 'done' && { commit }),
    });
    // Whatever was handed over is handed over again, in the same order.
    expect(trace.settledInRun.slice(0, before.length)).toEqual(before);
    before = trace.settledInRun;
    const died = outcome.type === 'failed' && outcome.error instanceof Crashed;
    if (died) {
      crashed += 1;
      left.shift();
      continue;
    }
    if (outcome.type === 'completed' || outcome.type === 'failed') return { outcome, trace, crashed, runs };
    durable = outcome.journal;
    if (outcome.type === 'detached') {
      from = { detached: 'done', asked: [] };
    } else {
      const { questions, asked } = outcome;
      const answers = Object.fromEntries(questions.map((one) => [one.key, asWireAnswer(answer(one), one)]));
      from = { ...from, asked, answers };
    }
  }
}

function shown(outcome: {
  readonly type: string;
  readonly value?: unknown;
  readonly error?: unknown;
}): unknown {
  const { type, value, error } = outcome;
  if (type !== 'failed') return { type, value };
  return error instanceof ParleyError ? { failed: error.code, message: error.message } : { failed: error };
}

describe('a task whose process dies while it commits', () => {
  it('ends as one that was never interrupted, and does nothing again that is durable', async () => {
    let died = 0;
    await fc.assert(
      fc.asyncProperty(tasks({}), crashes, async (program, planned) => {
        const whole = await rehearse(compile(program, new Trace()), {
          answers: consent,
          limits,
          uninterrupted: true,
        });
        const { outcome, trace, crashed } = await run(program, planned, hesitant());
        died += crashed;
        expect(shown(outcome)).toEqual(shown(whole.outcome));
        expect(trace.broken).toEqual([]);
        expect(trace.faults).toEqual([]);
      }),
      { numRuns: 400 },
    );
    // Or else it showed nothing.
    expect(died).toBeGreaterThan(400);
  });

  it('hands over again what it had handed over, in the same order, whoever raced', async () => {
    await fc.assert(
      fc.asyncProperty(tasks({ races: true, failures: true }), crashes, async (program, planned) => {
        const { trace } = await run(program, planned, hesitant());
        expect(trace.broken).toEqual([]);
        expect(trace.faults).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('does each piece of work once more at most for each time it died', async () => {
    await fc.assert(
      fc.asyncProperty(tasks({ races: true, failures: true }), crashes, async (program, planned) => {
        const { trace, crashed } = await run(program, planned, consent);
        for (const times of trace.steps.values()) expect(times).toBeLessThanOrEqual(crashed + 1);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves a journal from which the flow ends the same, though a key may stand in it twice', async () => {
    await fc.assert(
      fc.asyncProperty(tasks({}), crashes, async (program, planned) => {
        const { outcome } = await run(program, planned, consent);
        const twice = [...outcome.journal, ...outcome.journal.filter((line) => isKeyed(read(line)))];
        const again = await runRound(compile(program, new Trace()), {
          journal: twice,
          detached: 'done',
          host: testHost({ digest: questionDigest }),
          limits,
        });
        expect(shown(again)).toEqual(shown(outcome));
      }),
      { numRuns: 100 },
    );
  });
});
