import {
  ConfigurationError,
  FlowDiverged,
  InputRefused,
  InvalidKey,
  KeyReused,
  NestedCall,
} from '../errors.js';
import { LazyAbort } from './abort.js';
import { attempt, failureEntry, recordedFailure, type Attempt } from './attempt.js';
import { checkDetachOptions, Detach, RESERVED } from './detach.js';
import type {
  ClientView,
  DetachOptions,
  ElicitOutcome,
  Flow,
  FormQuestion,
  OnceOptions,
  StepContext,
  UrlOutcome,
  WaitOptions,
} from './flow.js';
import { CONFIRM_SCHEMA, formAsk } from './form-ask.js';
import type { FormContent, FormSchema } from './form-schema.js';
import { describeEntry, type Answer, type Journal, type KeyedEntry, type SourceEntry } from './journal.js';
import type { Json } from './json.js';
import { rootsQuestion, samplingQuestion, urlQuestion } from './question.js';
import { Questions, type Ask, type Reading } from './questions.js';
import { Replay } from './replay.js';
import type { RunInput } from './run-input.js';
import type { CreateMessageAnswer, CreateMessageParams, Root } from './sampling.js';
import { Waits } from './waits.js';
import { WorkContext } from './work-context.js';

/*
 * The flow object of one run. Invariants kept here:
 *
 *  F1  A key is used once in a run, by one call, of the kind that its recorded entry has.
 *  F2  When the run is over, whatever is called gives a promise that never settles: an abandoned handler
 *      goes nowhere. A thrown signal would be swallowed by a `catch` and would run `finally` blocks as if the
 *      work were done.
 *  F3  What is over holds nothing: no timer, no listener, no waiting promise keeps an abandoned run alive.
 *  F4  A run may rest only when a question, an expired wait or a detach is pending and no step, check or schema
 *      runs. It ends as detached only when no question is pending: those go out first.
 *  F5  Where lines are committed, work begins only when all that was recorded before it is durable: a key that was
 *      drawn for it (`flow.uuid()`) must be the same when it is done again after a crash.
 */

const MAX_KEY_LENGTH = 256;

/** The types of entry that a call may find under its key: done, failed. */
type WorkEntries =
  readonly ['step', 'step-failed'] | readonly ['wait', 'wait-failed'] | readonly ['once', 'once-failed'];
const STEP_ENTRIES: WorkEntries = ['step', 'step-failed'];
const WAIT_ENTRIES: WorkEntries = ['wait', 'wait-failed'];
const ONCE_ENTRIES: WorkEntries = ['once', 'once-failed'];

type Maker<T> = () => Omit<Ask<T>, 'key' | 'fresh'>;

/** Implements {@link Flow} over a {@link Replay}. */
export class FlowCalls<Ctx> implements Flow<Ctx> {
  readonly questions: Questions;
  readonly #input: RunInput<Ctx>;
  readonly #replay: Replay;
  readonly #fail: (error: unknown) => void;
  readonly #abort = new LazyAbort();
  readonly #used = new Set<string>();
  #resolved: Map<(flow: Flow<Ctx>) => unknown, unknown> | undefined;
  #timers: Set<() => void> | undefined;
  readonly #steps = new Set<string>();
  #workContext: WorkContext | undefined;
  #insideStep: string | undefined;
  #detach: Detach | undefined;
  #waits: Waits | undefined;
  #over = false;
  #goesOn = false;
  #warned = false;

  constructor(input: RunInput<Ctx>, fail: (error: unknown) => void, onRest: () => void) {
    this.#input = input;
    this.#fail = fail;
    this.#replay = new Replay({
      journal: input.journal,
      scheduler: input.host.scheduler,
      mayRest: () => this.#mayRest(),
      onRest,
      commit: input.commit,
      fail,
    });
    this.questions = new Questions({
      replay: this.#replay,
      limits: input.limits,
      digest: input.host.digest,
      fail,
      asked: input.asked,
      answers: input.answers,
    });
  }

  get id(): string {
    return this.#input.id();
  }

  get round(): number {
    return this.#input.round;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get client(): ClientView {
    return this.#input.client;
  }

  get ctx(): Ctx {
    return this.#input.ctx;
  }

  /** The journal so far; for the run. */
  journal(): Journal {
    return this.#replay.journal();
  }

  /** Milliseconds after which a wait wants to look again; undefined when nothing waits. For the run. */
  get every(): number | undefined {
    return this.#waits?.every;
  }

  /** Takes the detach that waits for this rest, if one does, and gives its options; for the run. */
  takeDetach(): DetachOptions | undefined {
    return this.#detach?.take();
  }

  /**
   * Lets go of everything (F2, F3); for the run.
   *
   * @param goesOn whether the handler will run again from its top.
   */
  end(goesOn: boolean): void {
    this.#over = true;
    this.#goesOn = goesOn;
    this.#replay.stop();
    for (const cancel of this.#timers ?? []) cancel();
    this.#timers = undefined;
    this.#resolved = undefined;
    this.#abort.abort();
  }

  elicit<const S extends FormSchema>(
    key: string,
    question: FormQuestion<S>,
  ): Promise<ElicitOutcome<FormContent<S>>> {
    return this.#ask('elicit', key, question.fresh ?? false, () =>
      formAsk(key, question, (outcome) => ({ type: 'value', value: outcome })),
    );
  }

  form<const S extends FormSchema>(key: string, question: FormQuestion<S>): Promise<FormContent<S>> {
    return this.#ask('form', key, question.fresh ?? false, () =>
      formAsk(key, question, (outcome) =>
        outcome.action === 'accept'
          ? { type: 'value', value: outcome.content }
          : { type: 'error', error: new InputRefused(key, outcome.action) },
      ),
    );
  }

  confirm(key: string, message: string, options?: { readonly fresh?: boolean }): Promise<boolean> {
    return this.#ask('confirm', key, options?.fresh ?? true, () =>
      formAsk(key, { message, schema: CONFIRM_SCHEMA }, (outcome) => {
        if (outcome.action === 'cancel') return { type: 'error', error: new InputRefused(key, 'cancel') };
        return { type: 'value', value: outcome.action === 'accept' && outcome.content.confirm };
      }),
    );
  }

  elicitUrl(
    key: string,
    question: { readonly message: string; readonly url: string; readonly fresh?: boolean },
  ): Promise<UrlOutcome> {
    return this.#ask('elicitUrl', key, question.fresh ?? false, () => ({
      question: urlQuestion(key, question.message, question.url),
      read: (answer): Reading<UrlOutcome> =>
        'action' in answer
          ? { type: 'value', value: { action: answer.action }, answer }
          : { type: 'unusable', reason: 'it is of another kind.' },
    }));
  }

  createMessage(key: string, params: CreateMessageParams): Promise<CreateMessageAnswer> {
    return this.#ask('createMessage', key, false, () => ({
      question: samplingQuestion(key, params),
      read: (answer) => readResult(answer, (result) => result as unknown as CreateMessageAnswer),
    }));
  }

  listRoots(key: string): Promise<readonly Root[]> {
    return this.#ask('listRoots', key, false, () => ({
      question: rootsQuestion(),
      read: (answer) => readResult(answer, (result) => result['roots'] as unknown as readonly Root[]),
    }));
  }

  step<R>(key: string, fn: (context: StepContext) => R): Promise<Awaited<R>> {
    return this.#work<Awaited<R>>('step', key, STEP_ENTRIES, (settle) => {
      this.#steps.add(key);
      this.#begin(() => {
        void this.#attempt(key, fn).then((result) => {
          this.#steps.delete(key);
          settle(result);
          this.#replay.end();
        });
      });
    });
  }

  waitFor<R>(
    key: string,
    check: (context: StepContext) => R,
    options?: WaitOptions,
  ): Promise<NonNullable<Awaited<R>>> {
    const { every = 1_000, hold = 20_000 } = options ?? {};
    return this.#work<NonNullable<Awaited<R>>>('waitFor', key, WAIT_ENTRIES, (settle) => {
      this.#waits ??= new Waits({
        begin: (work) => this.#begin(work),
        end: () => this.#replay.end(),
        called: () => this.#replay.called(),
        after: (ms, callback) => this.#after(ms, callback),
        isOver: () => this.#over,
        looksOnce: this.#input.looksOnce === true,
      });
      this.#waits.start({ every, hold, check: () => this.#attempt(key, check), settle });
    });
  }

  once<R>(key: string, fn: () => R, options?: OnceOptions): Promise<Awaited<R>> {
    return this.#work<Awaited<R>>('once', key, ONCE_ENTRIES, (settle) => {
      const { once } = this.#input;
      if (once === undefined)
        throw new ConfigurationError('flow.once needs a ledger: new Parley({ ledger }).');
      const { id, keep } = options ?? {};
      if (keep !== undefined && !(Number.isSafeInteger(keep) && keep > 0)) {
        throw new RangeError('keep must be a positive whole number of milliseconds.');
      }
      if (options !== undefined && 'id' in options && typeof id !== 'string') {
        throw new InvalidKey(`The id of flow.once('${key}') is not a string.`);
      }
      this.#steps.add(key);
      const attempt = (run: () => unknown): Promise<Attempt> => this.#attempt(key, run);
      this.#begin(() => {
        once({ key, id, keep, work: fn, attempt, isOver: () => this.#over })
          .then(settle, this.#fail)
          .finally(() => {
            this.#steps.delete(key);
            this.#replay.end();
          });
      });
    });
  }

  detach(options: DetachOptions = {}): Promise<void> {
    if (this.#over) return this.#never('detach()');
    try {
      if (this.#insideStep !== undefined) throw new NestedCall(this.#insideStep, 'detach');
      const checked = checkDetachOptions(options);
      this.#detach ??= new Detach(checked, this.#replay, this.#input, this.#fail);
      return this.#detach.promise;
    } catch (error) {
      const refused = Promise.reject<void>(error);
      refused.catch(ignore);
      return refused;
    }
  }

  use<T>(resolver: (flow: Flow<Ctx>) => T): T {
    if (this.#insideStep !== undefined) throw new NestedCall(this.#insideStep, 'use');
    this.#resolved ??= new Map();
    if (!this.#resolved.has(resolver)) {
      const value = resolver(this);
      if (value instanceof Promise) value.catch(ignore);
      this.#resolved.set(resolver, value);
    }
    return this.#resolved.get(resolver) as T;
  }

  now(): number {
    return this.#draw('now', this.#input.host.now);
  }

  random(): number {
    return this.#draw('random', this.#input.host.random);
  }

  uuid(): string {
    return this.#draw('uuid', this.#input.host.uuid);
  }

  #mayRest(): boolean {
    // Neither waits for polls; a poll that was cut short is taken up in the next round, or in the task.
    return this.questions.pending > 0 || this.#detach?.waits === true || this.#waits?.expired === true;
  }

  /** One call that asks: settled by the journal, by an answer of this round, or not at all (suspended). */
  #ask<T>(call: string, key: string, fresh: boolean, make: Maker<T>): Promise<T> {
    return this.#enter(call, key, ['answer', 'answer-invalid'], (recorded, resolve, reject) => {
      const entry = recorded as Extract<KeyedEntry, { type: 'answer' | 'answer-invalid' }> | undefined;
      this.questions.ask({ key, fresh, ...make() }, entry, { resolve, reject });
      if (this.#steps.size > 0) this.#watchSteps(key);
    });
  }

  /**
   * A step that asks waits for an answer that cannot be asked for while a step runs. Within its first synchronous
   * part that is an error; after that it looks like any other question beside a slow step, so it is only told.
   */
  #watchSteps(key: string): void {
    const { watchdog, warn } = this.#input.host;
    if (watchdog === undefined) return;
    const steps = [...this.#steps];
    this.#after(watchdog, () => {
      const step = steps.find((name) => this.#steps.has(name));
      if (step === undefined || !this.questions.has(key)) return;
      warn(
        `The question '${key}' has waited ${watchdog} ms for step '${step}' to end. If that step itself asks it, it ` +
          `waits for ever: ask outside of steps.`,
      );
    });
  }

  /** One call that works: settled by the journal, or by doing it. */
  #work<T>(
    call: 'step' | 'waitFor' | 'once',
    key: string,
    types: WorkEntries,
    start: (settle: (result: Attempt) => void) => void,
  ): Promise<T> {
    const [done, failed] = types;
    return this.#enter<T>(call, key, types, (recorded, resolve, reject) => {
      if (recorded !== undefined) {
        this.#replay.deliverRecorded(key, (keep) => {
          keep();
          if (recorded.type === failed) reject(recordedFailure(recorded));
          else resolve(('value' in recorded ? recorded.value : undefined) as T);
        });
        return;
      }
      start((result) => {
        if ('failure' in result) {
          const { failure } = result;
          this.#replay.deliverLive(failureEntry(failed, key, failure), () => reject(failure));
        } else {
          const { value } = result;
          this.#replay.deliverLive({ type: done, key, ...(value !== undefined && { value }) }, () =>
            resolve(value as T),
          );
        }
      });
      this.#replay.called();
    });
  }

  /** Begins work that must end before the run may rest: now, or when all that was recorded before it is durable (F5). */
  #begin(work: () => void): void {
    this.#replay.begin();
    this.#whenDurable(work);
  }

  /** Looks again after each commit: other branches may have drawn meanwhile, and the work can see what they have. */
  #whenDurable(work: () => void): void {
    const pending = this.#replay.durable();
    if (pending === undefined) work();
    else void this.#replay.whenDurable(pending, () => this.#whenDurable(work));
  }

  /** What every call that has a key goes through: is the run alive, is the key free, does the record agree (F1, F2). */
  #enter<T>(
    call: string,
    key: string,
    types: readonly KeyedEntry['type'][],
    go: (
      recorded: KeyedEntry | undefined,
      resolve: (value: T) => void,
      reject: (error: Error) => void,
    ) => void,
  ): Promise<T> {
    if (this.#over) return this.#never(`${call}('${key}')`);
    const promise = new Promise<T>((resolve, reject) => {
      this.#claim(call, key);
      const recorded = this.#replay.find(key);
      if (recorded !== undefined && !types.includes(recorded.type)) {
        throw new FlowDiverged(key, describeEntry(recorded), describeCall(types));
      }
      go(recorded, resolve, reject);
    });
    // A rejection that the handler never looks at must not end a process that serves others.
    promise.catch(ignore);
    return promise;
  }

  #claim(call: string, key: string): void {
    if (this.#insideStep !== undefined) throw new NestedCall(this.#insideStep, call);
    if (
      typeof key !== 'string' ||
      key.length > MAX_KEY_LENGTH ||
      key === '__proto__' ||
      key.startsWith(RESERVED)
    ) {
      throw new InvalidKey(
        `The key of flow.${call} must be a string of at most ${MAX_KEY_LENGTH} characters, not '__proto__', and must ` +
          `not begin with the character U+0000.`,
      );
    }
    if (this.#used.has(key)) throw new KeyReused(key);
    this.#used.add(key);
  }

  #never<T>(call: string): Promise<T> {
    // After a completed flow it is the end of a race that was lost, and nothing to warn of.
    if (this.#goesOn && !this.#warned) {
      this.#warned = true;
      this.#input.host.warn(
        `flow.${call} was called after its round had been answered; it never settles. Work outside of steps went ` +
          `on while a question or flow.detach was pending: put it into a step.`,
      );
    }
    return new Promise<T>(ignore);
  }

  /** Only the synchronous part of a step can be watched without a cost for everybody; see `#watchSteps` for the rest. */
  #attempt<R>(key: string, fn: (context: StepContext) => R): Promise<Attempt> {
    this.#workContext ??= new WorkContext(this.#abort, this.#input.heartbeat);
    const context = this.#workContext;
    return attempt(
      key,
      () => {
        this.#insideStep = key;
        try {
          return fn(context);
        } finally {
          this.#insideStep = undefined;
        }
      },
      context,
    );
  }

  #draw<V extends number | string>(type: SourceEntry['type'], make: () => V): V {
    if (this.#over) return make();
    if (this.#insideStep !== undefined) throw new NestedCall(this.#insideStep, type);
    return this.#replay.draw(type, make);
  }

  #after(ms: number, callback: () => void): void {
    const cancel = this.#input.host.scheduler.after(ms, () => {
      this.#timers?.delete(cancel);
      callback();
    });
    this.#timers ??= new Set();
    this.#timers.add(cancel);
  }
}

function describeCall(types: readonly KeyedEntry['type'][]): string {
  if (types.includes('answer')) return 'a question';
  if (types.includes('once')) return 'work done once';
  return types.includes('wait') ? 'a wait' : 'a step';
}

function ignore(): void {}

function readResult<T>(answer: Answer, take: (result: { readonly [member: string]: Json }) => T): Reading<T> {
  if (!('result' in answer)) return { type: 'unusable', reason: 'it is of another kind.' };
  return { type: 'value', value: take(answer.result), answer };
}
