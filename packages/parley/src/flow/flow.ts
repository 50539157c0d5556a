import type { FormContent, FormSchema } from './form-schema.js';
import type { JsonCompatible } from './json.js';
import type { CreateMessageAnswer, CreateMessageParams, Root } from './sampling.js';

/** What came back for an elicitation, as MCP has it. `content` is checked and typed by the schema. */
export type ElicitOutcome<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** Consent to open a page: not that anything was done there. */
export type UrlOutcome = { readonly action: 'accept' | 'decline' | 'cancel' };

/** A form to be filled in. */
export interface FormQuestion<S extends FormSchema> {
  /** What the person reads. Part of what an answer is pinned to: keep it the same from round to round. */
  readonly message: string;
  /** A Standard Schema (zod 4.2 and later, others) or the protocol's restricted JSON Schema. */
  readonly schema: S;
  /**
   * Take only an answer to a question that a sealed round really asked. Without it a client that knows the
   * question may answer it in its first request. Default false.
   */
  readonly fresh?: boolean;
}

/** What a step may return: JSON, or a promise of it. `never` where a part of it is not JSON. */
export type Recorded<R> = R extends PromiseLike<infer T> ? PromiseLike<JsonCompatible<T>> : JsonCompatible<R>;

/** What a step's function gets. */
export interface StepContext {
  /** Aborts when the client hangs up or the run is over. */
  readonly signal: AbortSignal;
  /**
   * Says that this work is alive, for work that takes minutes. In a task it extends the claim of this process right
   * away, and shows the message as the task's `statusMessage`. In a request it does nothing.
   *
   * @param message at most 1,000 characters.
   * @throws RangeError when the message is longer, or no string.
   * @throws also when the task was cancelled, or another process has taken it over: stop then, nobody will look at
   * the result.
   */
  readonly heartbeat: (message?: string) => Promise<void>;
}

/** What becomes of a flow that goes on as a task. */
export interface DetachOptions {
  /** What the client shows while the task works: at most 1,000 characters. */
  readonly message?: string;
  /** Milliseconds for which the task and its result are kept, from now on. Default: that of the task store. */
  readonly ttl?: number;
  /** Milliseconds between two looks that the client is asked for. Default: that of the task store. */
  readonly pollInterval?: number;
}

/** What work is done once for. */
export interface OnceOptions {
  /**
   * An id of your own over all flows, such as a coupon's code: whoever comes second gets the result of the first.
   * Put what tells them apart into the result. Without an id, the work is this flow's.
   */
  readonly id?: string;
  /**
   * Milliseconds for which the record is kept. Default: as long as the flow may live; with an `id`, 30 days. After
   * that the work could be done again.
   */
  readonly keep?: number;
}

/** How `waitFor` waits. */
export interface WaitOptions {
  /** Milliseconds to poll before the round is answered and the client asked to come back; at least `every`. Default 20,000. */
  readonly hold?: number;
  /** Milliseconds between two checks, above 0. Default 1,000. */
  readonly every?: number;
}

/** What this request's client can be asked. Read anew in each round: a client may change between rounds. */
export interface ClientView {
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
  readonly sampling: { readonly messages: boolean; readonly tools: boolean };
  readonly roots: boolean;
  /** Identifiers of the extensions that the client declared. */
  readonly extensions: ReadonlySet<string>;
}

/**
 * The flow object that a handler gets. Whatever it is asked for is recorded; in the next round the handler
 * runs from its top again and gets the recorded things back, in the order in which they were settled.
 *
 * Keys are the author's. They name what was recorded and must be unique in a flow.
 *
 * @typeParam Ctx the host's context; under the official SDK its `ServerContext`.
 */
export interface Flow<Ctx = unknown> {
  /** The flow's id, the same in every round: 22 characters of base64url. */
  readonly id: string;
  /** The number of this round, from 1. */
  readonly round: number;
  /** Aborts when the client hangs up, and when this run is over (answered or suspended). */
  readonly signal: AbortSignal;
  /** What the client of this request declared. */
  readonly client: ClientView;
  /** The host's context of this request. */
  readonly ctx: Ctx;

  /**
   * Asks for a form and gives the outcome, whatever it is.
   *
   * @throws InvalidQuestion when the schema cannot be asked as a form.
   * @throws AnswerInvalid when `limits.attempts` answers did not fit the schema.
   */
  elicit<const S extends FormSchema>(
    key: string,
    question: FormQuestion<S>,
  ): Promise<ElicitOutcome<FormContent<S>>>;

  /**
   * Asks for a form and gives its content.
   *
   * @throws InputRefused when the person declines or cancels; unhandled, it ends the call as a tool error.
   * @throws InvalidQuestion, AnswerInvalid as `elicit` does.
   */
  form<const S extends FormSchema>(key: string, question: FormQuestion<S>): Promise<FormContent<S>>;

  /**
   * Asks for a yes or a no; decline is a no. Fresh by default: a yes that was not asked for does not count.
   *
   * @throws InputRefused when the person cancels.
   */
  confirm(key: string, message: string, options?: { readonly fresh?: boolean }): Promise<boolean>;

  /**
   * Asks the person to open a page (https, or http on loopback). Gives consent, not completion; wait for
   * the outcome with `waitFor`.
   */
  elicitUrl(
    key: string,
    question: { readonly message: string; readonly url: string; readonly fresh?: boolean },
  ): Promise<UrlOutcome>;

  /**
   * Polls `check` until it gives a value other than undefined and null, and records that value. After
   * `hold` the client is asked to come back (a round with state and no question), also when a check hangs; the
   * signal that it got aborts then. In a task it looks once, and again after `every`; `hold` plays no part there.
   *
   * @throws StepFailed when `check` throws, live and on every replay.
   * @throws NotJson when its value holds what JSON cannot, live and on every replay.
   * @throws RangeError when `every` is not above 0, `hold` is below, or one of them is 2^31 or more.
   */
  waitFor<R>(
    key: string,
    check: (context: StepContext) => R & Recorded<R>,
    options?: WaitOptions,
  ): Promise<NonNullable<Awaited<R>>>;

  /**
   * Asks the client's model.
   *
   * @deprecated Sampling is deprecated in the protocol as of 2026-07-28 (SEP-2577).
   */
  createMessage(key: string, params: CreateMessageParams): Promise<CreateMessageAnswer>;

  /**
   * Asks for the client's roots. They are guidance, not access control.
   *
   * @deprecated Roots are deprecated in the protocol as of 2026-07-28 (SEP-2577).
   */
  listRoots(key: string): Promise<readonly Root[]>;

  /**
   * Does a piece of work and records its JSON result. It runs once, unless the client presents an older
   * state again or a response was lost: then it may run again. What it resolves with live is the parsed copy
   * that a replay gives.
   *
   * @throws StepFailed when `fn` throws, live and on every replay.
   * @throws NotJson when the result holds what JSON cannot, live and on every replay: it is not run again.
   */
  step<R>(key: string, fn: (context: StepContext) => R & Recorded<R>): Promise<Awaited<R>>;

  /**
   * Does a piece of work at most once, over all instances and whatever states a client presents again. A second
   * run gets the recorded result. Needs a ledger (`new Parley({ ledger })`); without one it is kept in the memory
   * of this process.
   *
   * It gets no signal: what has begun is seen through, though the client has gone.
   *
   * @throws StepFailed when `fn` throws, then and ever after.
   * @throws OutcomeUnknown when it was begun before and never settled: its process died half-way. It is not
   * done again.
   */
  once<R>(key: string, fn: () => R & Recorded<R>, options?: OnceOptions): Promise<Awaited<R>>;

  /**
   * Goes on as a task: the client gets the task at once, and what comes after runs on without it. Questions before
   * it are ordinary rounds, those after it are the task's. Questions that are pending when it is called go out first,
   * and work that runs is seen through. All that was recorded goes along; as after any round, the handler runs again
   * from its top.
   *
   * Needs tasks (`new Parley({ tasks })`) and a client that declares them; without either the call ends with an
   * error that cannot be caught. In a task, and when it is called again, it only resolves.
   *
   * @throws RangeError when an option is out of its range.
   * @throws NestedCall in the synchronous part of a step.
   */
  detach(options?: DetachOptions): Promise<void>;

  /**
   * Runs a resolver, a plain function of the flow, once a round however many use it.
   *
   * @throws NestedCall in the synchronous part of a step.
   */
  use<T>(resolver: (flow: Flow<Ctx>) => T): T;

  /**
   * The time in ms since 1970, recorded. As the two below, it belongs to the place where it was drawn: after which
   * recorded thing, and which of its kind there. It falls with the answer right before it, when that question reads
   * differently now.
   *
   * @throws NestedCall in the synchronous part of a step; the two below too.
   */
  now(): number;
  /** A number in [0, 1), recorded. */
  random(): number;
  /** A version 4 UUID, recorded. */
  uuid(): string;
}
