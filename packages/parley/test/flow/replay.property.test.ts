import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ParleyError } from '../../src/errors.js';
import {
  cancel,
  decline,
  rehearse,
  wire,
  type KeyedQuestion,
  type Rehearsal,
  type RehearsalOutcome,
  type RehearsedAnswer,
  type RoundPlan,
} from '../../src/testing/index.js';
import { compile, hash, programs, Trace, type Program } from './program.js';

/*
 * A flow that is interrupted at each of its questions, and goes on in another process each time, must end as
 * one that was never interrupted. There is one legitimate difference: who comes first where answers come in
 * different rounds. A race is therefore compared only where each question is answered in the round after it
 * was asked, as the uninterrupted run does it too.
 */

const MANY = 64;
const anything = { races: true, failures: true };
const limits = { rounds: 4 * MANY, questions: MANY };

/** The answer is a function of the key: whoever asks, whenever. */
function consent({ key, question }: KeyedQuestion): RehearsedAnswer {
  if (question.kind === 'url') return {};
  const isConfirmation = JSON.stringify(question.params).includes('"confirm"');
  return isConfirmation ? hash(key) % 2 === 0 : { text: `answer ${key}` };
}

/** As `consent`, but some refuse. */
function answer(question: KeyedQuestion): RehearsedAnswer {
  const draw = hash(question.key) % 20;
  if (draw === 0) return decline();
  return draw === 1 ? cancel() : consent(question);
}

/**
 * As `consent`, but some questions are answered only when they are asked for the second or third time. Nobody
 * refuses: which of several failures comes first is a race too, since `Promise.all` fails with the first.
 */
function lateAnswers(): (question: KeyedQuestion) => RehearsedAnswer {
  const asked = new Map<string, number>();
  return (question) => {
    const times = asked.get(question.key) ?? 0;
    asked.set(question.key, times + 1);
    return times < hash(`late ${question.key}`) % 3 ? wire(undefined) : consent(question);
  };
}

function everyRound(plan: (request: number) => RoundPlan): Record<number, RoundPlan> {
  return Object.fromEntries(Array.from({ length: 6 * MANY }, (_, index) => [index + 1, plan(index + 1)]));
}

const onAnotherInstance = everyRound((request) => ({ instance: `instance ${request % 5}`, advance: 250 }));

function shown(outcome: RehearsalOutcome<string>): unknown {
  if (outcome.type !== 'failed') return outcome;
  const { error } = outcome;
  return error instanceof ParleyError ? { failed: error.code, message: error.message } : { failed: error };
}

interface Observed {
  readonly trace: Trace;
  readonly rehearsal: Rehearsal<string>;
}

async function observe(program: Program, options: Parameters<typeof rehearse>[1]): Promise<Observed> {
  const trace = new Trace();
  const rehearsal = await rehearse(compile(program, trace), {
    answers: answer,
    limits,
    ...options,
  });
  return { trace, rehearsal };
}

const inOneGo = (program: Program): Promise<Observed> => observe(program, { uninterrupted: true });

describe('a flow over many rounds and processes', () => {
  it(
    'ends as one in a single run, and runs each step once (MRTR-S-15, MRTR-S-16)',
    { timeout: 30_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(programs(anything), async (program) => {
          const whole = await inOneGo(program);
          const parts = await observe(program, { rounds: onAnotherInstance });
          expect(shown(parts.rehearsal.outcome)).toEqual(shown(whole.rehearsal.outcome));
          expect(parts.trace.faults).toEqual([]);
          expect(parts.trace.changedSources).toEqual([]);
          expect(Object.fromEntries(parts.trace.steps)).toEqual(Object.fromEntries(whole.trace.steps));
          expect([...parts.trace.steps.values()].filter((count) => count !== 1)).toEqual([]);
        }),
        { numRuns: 500 },
      );
    },
  );

  it(
    'ends the same when responses are lost and requests repeated, and runs each step at least once',
    { timeout: 30_000 },
    async () => {
      const mishaps = fc.array(fc.record({ drop: fc.boolean(), repeat: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      });
      await fc.assert(
        fc.asyncProperty(programs(anything), mishaps, async (program, planned) => {
          const whole = await inOneGo(program);
          const rounds = everyRound((request) => ({
            ...onAnotherInstance[request],
            ...planned[request - 1],
          }));
          const parts = await observe(program, { rounds });
          expect(shown(parts.rehearsal.outcome)).toEqual(shown(whole.rehearsal.outcome));
          expect([...parts.trace.steps.keys()].toSorted()).toEqual([...whole.trace.steps.keys()].toSorted());
        }),
        { numRuns: 300 },
      );
    },
  );

  it(
    'ends the same when answers come late and in part, without races (GAP-17)',
    { timeout: 30_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(programs({}), async (program) => {
          const whole = await observe(program, { answers: consent, uninterrupted: true });
          const parts = await observe(program, { answers: lateAnswers(), rounds: onAnotherInstance });
          expect(shown(parts.rehearsal.outcome)).toEqual(shown(whole.rehearsal.outcome));
          expect(parts.trace.faults).toEqual([]);
          expect(parts.trace.changedSources).toEqual([]);
          expect([...parts.trace.steps.values()].filter((count) => count !== 1)).toEqual([]);
          expect(parts.rehearsal.warnings).toEqual([]);
        }),
        { numRuns: 300 },
      );
    },
  );

  it(
    'ends the same with I/O outside of steps, which costs rounds but no result, without races',
    { timeout: 30_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(programs({ turns: true }), async (program) => {
          const whole = await observe(program, { answers: consent, uninterrupted: true });
          const parts = await observe(program, { answers: consent, rounds: onAnotherInstance });
          expect(shown(parts.rehearsal.outcome)).toEqual(shown(whole.rehearsal.outcome));
          // Times and numbers have no key: which branch draws first after such I/O is a race, so they are not compared.
          expect(parts.trace.faults).toEqual([]);
          expect([...parts.trace.steps.values()].filter((count) => count !== 1)).toEqual([]);
        }),
        { numRuns: 150 },
      );
    },
  );

  it(
    'ends the same when it goes on as a task somewhere, and runs each step once (TASK-12)',
    { timeout: 30_000 },
    async () => {
      let tasks = 0;
      await fc.assert(
        fc.asyncProperty(programs({ ...anything, detach: true }), async (program) => {
          const whole = await inOneGo(program);
          const parts = await observe(program, { rounds: onAnotherInstance });
          expect(shown(parts.rehearsal.outcome)).toEqual(shown(whole.rehearsal.outcome));
          expect(parts.trace.faults).toEqual([]);
          expect(parts.trace.changedSources).toEqual([]);
          expect([...parts.trace.steps.values()].filter((count) => count !== 1)).toEqual([]);
          if ('detached' in parts.rehearsal.outcome) tasks += 1;
        }),
        { numRuns: 300 },
      );
      // Or else it showed nothing.
      expect(tasks).toBeGreaterThan(100);
    },
  );

  it('asks in each round only what was not answered before', { timeout: 30_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(programs(anything), async (program) => {
        const { rehearsal } = await observe(program, { rounds: onAnotherInstance });
        const asked = rehearsal.rounds.flatMap((round) => round.questions.map(({ key }) => key));
        expect(new Set(asked).size).toBe(asked.length);
      }),
      { numRuns: 100 },
    );
  });
});
