import { InputRefused } from '../errors.js';
import { LazyAbort } from './abort.js';
import { rootsAsk, samplingAsk, urlAsk } from './asks.js';
import { checkDetachOptions, Detach } from './detach.js';
import { Entrance } from './entrance.js';
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
import type { Journal, KeyedEntry, SourceEntry } from './journal.js';
import { Questions, type Ask } from './questions.js';
import { Replay } from './replay.js';
import type { RunInput } from './run-input.js';
import type { CreateMessageAnswer, CreateMessageParams, Root } from './sampling.js';
import { Timers } from './timers.js';
import { Work } from './work.js';

/*
 * The flow object of one run. Invariants kept by it and its parts (F1 and F2 in entrance.ts, F3 in timers.ts, F4 and F5
 * in work.ts):
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

type Maker<T> = () => Omit<Ask<T>, 'key' | 'fresh'>;

/** Implements {@link Flow} over a {@link Replay}. */
export class FlowCalls<Ctx> implements Flow<Ctx> {
  readonly questions: Questions;
  readonly #input: RunInput<Ctx>;
  readonly #replay: Replay;
  readonly #entrance: Entrance;
  readonly #work: Work;
  readonly #timers: Timers;
  readonly #abort = new LazyAbort();
  readonly #fail: (error: unknown) => void;
  #resolved: Map<(flow: Flow<Ctx>) => unknown, unknown> | undefined;
  #detach: Detach | undefined;

  constructor(input: RunInput<Ctx>, fail: (error: unknown) => void, onRest: () => void) {
    const { host, limits, journal, asked, answers, commit } = input;
    this.#input = input;
    this.#fail = fail;
    const replay = new Replay({
      journal,
      scheduler: host.scheduler,
      mayRest: () => this.#mayRest(),
      onRest,
      commit,
      fail,
    });
    this.#replay = replay;
    this.#entrance = new Entrance(replay, host.warn);
    this.#timers = new Timers(host.scheduler);
    this.#work = new Work({
      input,
      entrance: this.#entrance,
      replay,
      timers: this.#timers,
      abort: this.#abort,
      fail,
    });
    this.questions = new Questions({ replay, limits, digest: host.digest, fail, asked, answers });
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
    return this.#work.every;
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
    this.#entrance.close(goesOn);
    this.#replay.stop();
    this.#timers.end();
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
    return this.#ask('elicitUrl', key, question.fresh ?? false, () => urlAsk(key, question));
  }

  createMessage(key: string, params: CreateMessageParams): Promise<CreateMessageAnswer> {
    return this.#ask('createMessage', key, false, () => samplingAsk(key, params));
  }

  listRoots(key: string): Promise<readonly Root[]> {
    return this.#ask('listRoots', key, false, rootsAsk);
  }

  step<R>(key: string, fn: (context: StepContext) => R): Promise<Awaited<R>> {
    return this.#work.step(key, fn);
  }

  waitFor<R>(
    key: string,
    check: (context: StepContext) => R,
    options?: WaitOptions,
  ): Promise<NonNullable<Awaited<R>>> {
    return this.#work.waitFor(key, check, options ?? {});
  }

  once<R>(key: string, fn: () => R, options: OnceOptions = {}): Promise<Awaited<R>> {
    return this.#work.once(key, fn, options);
  }

  detach(options: DetachOptions = {}): Promise<void> {
    if (this.#entrance.over) return this.#entrance.never('detach()');
    try {
      this.#entrance.refuseNested('detach');
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
    this.#entrance.refuseNested('use');
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
    return this.questions.pending > 0 || this.#detach?.waits === true || this.#work.waitsExpired;
  }

  /** One call that asks: settled by the journal, by an answer of this round, or not at all (suspended). */
  #ask<T>(call: string, key: string, fresh: boolean, make: Maker<T>): Promise<T> {
    return this.#entrance.enter(call, key, ['answer', 'answer-invalid'], (recorded, resolve, reject) => {
      const entry = recorded as Extract<KeyedEntry, { type: 'answer' | 'answer-invalid' }> | undefined;
      this.questions.ask({ key, fresh, ...make() }, entry, { resolve, reject });
      if (this.#work.running.size > 0) this.#watchSteps(key);
    });
  }

  /**
   * A step that asks waits for an answer that cannot be asked for while a step runs. Within its first synchronous
   * part that is an error; after that it looks like any other question beside a slow step, so it is only told.
   */
  #watchSteps(key: string): void {
    const { watchdog, warn } = this.#input.host;
    if (watchdog === undefined) return;
    const { running } = this.#work;
    const steps = [...running];
    this.#timers.after(watchdog, () => {
      const step = steps.find((name) => running.has(name));
      if (step === undefined || !this.questions.has(key)) return;
      warn(
        `The question '${key}' has waited ${watchdog} ms for step '${step}' to end. If that step itself asks it, it ` +
          `waits for ever: ask outside of steps.`,
      );
    });
  }

  #draw<V extends number | string>(type: SourceEntry['type'], make: () => V): V {
    if (this.#entrance.over) return make();
    this.#entrance.refuseNested(type);
    return this.#replay.draw(type, make);
  }
}

function ignore(): void {}
