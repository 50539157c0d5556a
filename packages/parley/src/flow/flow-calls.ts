import { FlowDiverged, InputRefused, InvalidKey, KeyReused, NestedCall, NotJson, StepFailed } from '../errors.js';
import { LazyAbort } from './abort.js';
import type {
  ClientView,
  ElicitOutcome,
  Flow,
  FormQuestion,
  StepContext,
  UrlOutcome,
  WaitOptions,
} from './flow.js';
import { CONFIRM_SCHEMA, formAsk } from './form-ask.js';
import type { FormContent, FormSchema } from './form-schema.js';
import { describeEntry, type Answer, type Journal, type KeyedEntry, type SourceEntry } from './journal.js';
import { recordable, type Json } from './json.js';
import { rootsQuestion, samplingQuestion, urlQuestion } from './question.js';
import { Questions, type Ask, type Reading } from './questions.js';
import { Replay } from './replay.js';
import type { RunInput } from './run-input.js';
import type { CreateMessageAnswer, CreateMessageParams, Root } from './sampling.js';

/*
 * The flow object of one run. Invariants kept here:
 *
 *  F1  A key is used once in a run, by one call, of the kind that its recorded entry has.
 *  F2  When the run is over, whatever is called gives a promise that never settles: an abandoned handler
 *      goes nowhere. A thrown signal would be swallowed by a `catch` and would run `finally` blocks as if the
 *      work were done.
 *  F3  What is over holds nothing: no timer, no listener, no waiting promise keeps an abandoned run alive.
 *  F4  A run may rest only when a question or an expired wait is pending and no step, check or schema runs.
 */

/** Longer messages of failed steps are cut: they are recorded, and the state has a bound. */
const MAX_FAILURE_MESSAGE = 1_000;
const MAX_KEY_LENGTH = 256;

type Maker<T> = () => Omit<Ask<T>, 'key' | 'fresh'>;

/** Implements {@link Flow} over a {@link Replay}. */
export class FlowCalls<Ctx> implements Flow<Ctx> {
  readonly questions: Questions;
  readonly #input: RunInput<Ctx>;
  readonly #replay: Replay;
  readonly #abort = new LazyAbort();
  readonly #used = new Set<string>();
  readonly #resolved = new Map<(flow: Flow<Ctx>) => unknown, unknown>();
  readonly #timers = new Set<() => void>();
  #insideStep: string | undefined;
  #polling = 0;
  #expired = 0;
  #over = false;
  #warned = false;

  constructor(input: RunInput<Ctx>, fail: (error: Error) => void, onRest: () => void) {
    this.#input = input;
    this.#replay = new Replay(input.journal, input.host.scheduler, () => this.#mayRest(), onRest);
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

  /** Lets go of everything (F2, F3); for the run. */
  end(): void {
    this.#over = true;
    this.#replay.stop();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#resolved.clear();
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

  step<T>(key: string, fn: (context: StepContext) => T | Promise<T>): Promise<T> {
    return this.#work<T>('step', key, ['step', 'step-failed'], (resolve, reject) => {
      this.#replay.begin();
      void this.#attempt(key, fn).then((result) => {
        this.#replay.deliverLive(() => {
          if ('failure' in result) {
            this.#recordFailure(key, result.failure);
            reject(result.failure);
          } else {
            this.#replay.record({
              type: 'step',
              key,
              ...(result.value !== undefined && { value: result.value }),
            });
            resolve(result.value as T);
          }
        });
        this.#replay.end();
      });
    });
  }

  waitFor<T>(
    key: string,
    check: (context: StepContext) => T | undefined | null | Promise<T | undefined | null>,
    options?: WaitOptions,
  ): Promise<T> {
    const { now } = this.#input.host;
    const every = options?.every ?? 1_000;
    return this.#work<T>('waitFor', key, ['wait', 'step-failed'], (resolve, reject) => {
      const until = now() + (options?.hold ?? 20_000);
      this.#polling += 1;
      const poll = async (): Promise<void> => {
        this.#replay.begin();
        const result = await this.#attempt(key, check);
        if (this.#over) return;
        if ('failure' in result) {
          this.#polling -= 1;
          this.#replay.deliverLive(() => {
            this.#recordFailure(key, result.failure);
            reject(result.failure);
          });
        } else if (result.value !== undefined && result.value !== null) {
          const { value } = result;
          this.#polling -= 1;
          this.#replay.deliverLive(() => {
            this.#replay.record({ type: 'wait', key, value });
            resolve(value as T);
          });
        } else if (now() + every > until) {
          this.#polling -= 1;
          this.#expired += 1;
        } else {
          this.#after(every, () => void poll());
        }
        this.#replay.end();
      };
      void poll();
    });
  }

  use<T>(resolver: (flow: Flow<Ctx>) => T): T {
    if (!this.#resolved.has(resolver)) this.#resolved.set(resolver, resolver(this));
    return this.#resolved.get(resolver) as T;
  }

  now(): number {
    return this.#source('now', this.#input.host.now);
  }

  random(): number {
    return this.#source('random', this.#input.host.random);
  }

  uuid(): string {
    return this.#source('uuid', this.#input.host.uuid);
  }

  #mayRest(): boolean {
    // Questions go out without waiting for polls; a poll that was cut short is taken up in the next round.
    return this.questions.pending > 0 || (this.#expired > 0 && this.#polling === 0);
  }

  /** One call that asks: settled by the journal, by an answer of this round, or not at all (suspended). */
  #ask<T>(call: string, key: string, fresh: boolean, make: Maker<T>): Promise<T> {
    return this.#enter(call, key, ['answer', 'answer-invalid'], (recorded, resolve, reject) => {
      const entry = recorded as Extract<KeyedEntry, { type: 'answer' | 'answer-invalid' }> | undefined;
      this.questions.ask({ key, fresh, ...make() }, entry, { resolve, reject });
    });
  }

  /** One call that works: settled by the journal, or by doing it. */
  #work<T>(
    call: string,
    key: string,
    types: readonly KeyedEntry['type'][],
    start: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    return this.#enter<T>(call, key, types, (recorded, resolve, reject) => {
      if (recorded === undefined) {
        start(resolve, reject);
        this.#replay.called();
        return;
      }
      this.#replay.deliverRecorded(key, (keep) => {
        keep();
        if (recorded.type === 'step-failed') reject(new StepFailed(key, recorded.name, recorded.message));
        else resolve(('value' in recorded ? recorded.value : undefined) as T);
      });
    });
  }

  /** What every call goes through: is the run alive, is the key free, does the record agree (F1, F2). */
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
    if (this.#over) return this.#never(call, key);
    const promise = new Promise<T>((resolve, reject) => {
      this.#claim(call, key);
      const recorded = this.#replay.find(key);
      if (recorded !== undefined && !types.includes(recorded.type)) {
        throw new FlowDiverged(key, describeEntry(recorded), describeCall(types));
      }
      go(recorded, resolve, reject);
    });
    // A rejection that the handler never looks at must not end a process that serves others.
    promise.catch(() => undefined);
    return promise;
  }

  #claim(call: string, key: string): void {
    if (this.#insideStep !== undefined) throw new NestedCall(this.#insideStep, call);
    if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH || key === '__proto__') {
      throw new InvalidKey(
        `The key of flow.${call} must be a string of at most ${MAX_KEY_LENGTH} characters, and not '__proto__'.`,
      );
    }
    if (this.#used.has(key)) throw new KeyReused(key);
    this.#used.add(key);
  }

  #never<T>(call: string, key: string): Promise<T> {
    if (!this.#warned) {
      this.#warned = true;
      this.#input.host.warn(
        `flow.${call}('${key}') was called after its round had been answered; it never settles. ` +
          `Work outside of steps went on while a question was pending: put it into a step.`,
      );
    }
    return new Promise<T>(() => undefined);
  }

  /** Runs the author's function; gives its result as JSON, or why there is none. Never rejects. */
  async #attempt<T>(
    key: string,
    fn: (context: StepContext) => T | Promise<T>,
  ): Promise<{ readonly value: Json | undefined } | { readonly failure: Error }> {
    try {
      const result = await this.#callStep(key, fn);
      return { value: result === undefined ? undefined : recordable(key, result) };
    } catch (error) {
      return { failure: asFailure(key, error) };
    }
  }

  /** Only the synchronous part can be watched without a cost for everybody; it is where the mistake is made. */
  #callStep<T>(key: string, fn: (context: StepContext) => T | Promise<T>): T | Promise<T> {
    const abort = this.#abort;
    this.#insideStep = key;
    try {
      return fn({
        get signal() {
          return abort.signal;
        },
      });
    } finally {
      this.#insideStep = undefined;
    }
  }

  #recordFailure(key: string, failure: Error): void {
    // The author's own mistakes are not: a corrected deploy may try again.
    if (failure instanceof StepFailed) {
      this.#replay.record({ type: 'step-failed', key, name: failure.reasonName, message: failure.reason });
    }
  }

  #source<V extends number | string>(type: SourceEntry['type'], draw: () => V): V {
    if (this.#over) return draw();
    const recorded = this.#replay.takeSource(type);
    if (recorded !== undefined) return recorded as V;
    const value = draw();
    this.#replay.record({ type, value });
    return value;
  }

  #after(ms: number, callback: () => void): void {
    const cancel = this.#input.host.scheduler.after(ms, () => {
      this.#timers.delete(cancel);
      callback();
    });
    this.#timers.add(cancel);
  }
}

function describeCall(types: readonly KeyedEntry['type'][]): string {
  if (types.includes('answer')) return 'a question';
  return types.includes('wait') ? 'a wait' : 'a step';
}

function asFailure(key: string, error: unknown): Error {
  // Mistakes of the author, not failures of the work: they are told as they are, and not recorded.
  if (error instanceof NotJson || error instanceof NestedCall) return error;
  const name = error instanceof Error ? error.name : 'Error';
  const message = error instanceof Error ? error.message : String(error);
  return new StepFailed(key, name, message.slice(0, MAX_FAILURE_MESSAGE), { cause: error });
}

function readResult<T>(answer: Answer, take: (result: { readonly [member: string]: Json }) => T): Reading<T> {
  if (!('result' in answer)) return { type: 'unusable', reason: 'it is of another kind.' };
  return { type: 'value', value: take(answer.result), answer };
}
