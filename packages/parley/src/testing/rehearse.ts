import { TokenCarrier, type OpenedState } from '../carrier/index.js';
import { StateRejected, type RejectionReason } from '../errors.js';
import {
  checkLimits,
  DEFAULT_FLOW_LIMITS,
  readEntry,
  runFlow,
  runtimeScheduler,
  type ClientView,
  type Flow,
  type FlowLimits,
  type JournalEntry,
  type KeyedQuestion,
  type RunOutcome,
  type Scheduler,
} from '../flow/index.js';
import {
  createSealer,
  encodeBase64url,
  generateKey,
  parseKeys,
  principalDigest,
  randomBytes,
  requestDigest,
  sha256,
} from '../seal/index.js';
import { asWireAnswer, type RehearsedAnswer } from './answers.js';

/** What a round of a rehearsal may be made to do differently. Rounds are numbered from 1, as requests are sent. */
export interface RoundPlan {
  /** The response is lost: the client sends the same request again. */
  readonly drop?: boolean;
  /** After this round's response came, the same request is presented once more (a replay); see `replays`. */
  readonly repeat?: boolean;
  /** Milliseconds that pass before this round's request. */
  readonly advance?: number;
  /** The name of the instance that serves this round. Instances share keys only; a new one has seen nothing. */
  readonly instance?: string;
  /** Another caller than the rehearsal's. */
  readonly principal?: string | null;
  /** Other arguments than the rehearsal's. */
  readonly args?: unknown;
  /** Changes the state before it is presented. */
  readonly tamper?: (state: string) => string;
}

/** How to rehearse. */
export interface RehearseOptions<Args = unknown> {
  /** The handler's arguments; without them the handler is called with the flow alone, as the SDK does. */
  readonly args?: Args;
  /** Answers by key, or a function of the question. A question without an answer ends the rehearsal. */
  readonly answers?:
    | Readonly<Record<string, RehearsedAnswer>>
    | ((question: KeyedQuestion, round: number) => RehearsedAnswer | undefined);
  /** Who calls; null, the default, for nobody. */
  readonly principal?: string | null;
  /** What happens in single rounds. */
  readonly rounds?: Readonly<Record<number, RoundPlan>>;
  /** Answers that the first request already carries, without having been asked. */
  readonly unasked?: Readonly<Record<string, RehearsedAnswer>>;
  readonly limits?: Partial<FlowLimits>;
  /** Milliseconds that a round may wait for its answer. Default 10 minutes. */
  readonly ttl?: number;
  readonly version?: string;
  readonly client?: Partial<ClientView>;
  /** Where the simulated clock starts, in ms since 1970. Default 2026-07-28. */
  readonly startAt?: number;
  /** Runs the flow in one go, answering in place, instead of suspending it: what the rounds are compared with. */
  readonly uninterrupted?: boolean;
}

/** One request of a rehearsed flow, and what came of it. */
export interface RehearsedRound {
  readonly round: number;
  readonly instance: string;
  /** The questions that went out, by key; empty when the flow ended or only waits. */
  readonly questions: readonly KeyedQuestion[];
  /** The journal at the end of the round. */
  readonly journal: readonly JournalEntry[];
  /** Length of the sealed state on the wire; 0 when the flow ended. */
  readonly stateBytes: number;
}

/** How a rehearsal ended. */
export type RehearsalOutcome<T> =
  | { readonly type: 'completed'; readonly value: T }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'rejected'; readonly reason: RejectionReason }
  | { readonly type: 'unanswered'; readonly keys: readonly string[] };

/** What a rehearsal showed. */
export interface Rehearsal<T> {
  readonly outcome: RehearsalOutcome<T>;
  readonly rounds: readonly RehearsedRound[];
  /** What came of the requests that were presented a second time (`repeat`), in order. */
  readonly replays: readonly RehearsalOutcome<T>[];
  /** Warnings that a developer would have seen. */
  readonly warnings: readonly string[];
}

type Handler<Args, T> = ((args: Args, flow: Flow) => T | Promise<T>) | ((flow: Flow) => T | Promise<T>);

/** Made anew for each process: a rehearsal's states are nothing to anybody else. */
const KEYS = parseKeys(generateKey());

const START = Date.UTC(2026, 6, 28);

const EVERYTHING: ClientView = {
  elicitation: { form: true, url: true },
  sampling: { messages: true, tools: true },
  roots: true,
  extensions: new Set(),
};

/**
 * Runs a flow round by round in memory: each round seals its state, opens it again for the next, and runs the
 * handler from its top, as servers do. Needs no server, no client and no waiting: time is simulated.
 *
 * ```ts
 * const { outcome, rounds } = await rehearse(deploy, {
 *   args: { env: 'prod' },
 *   answers: { region: { region: 'eu' }, go: true },
 * });
 * ```
 *
 * Never rejects for what the flow does; see `outcome`.
 */
export async function rehearse<Args, T>(
  handler: Handler<Args, T>,
  options: RehearseOptions<Args> = {},
): Promise<Rehearsal<T>> {
  return await new Rehearsing(handler, options).run();
}

interface Sent {
  readonly state: string | undefined;
  readonly answers: Readonly<Record<string, unknown>> | undefined;
}

interface Served<T> {
  readonly outcome: RunOutcome<T>;
  readonly state: string;
}

class Rehearsing<Args, T> {
  readonly #handler: Handler<Args, T>;
  readonly #options: RehearseOptions<Args>;
  readonly #limits: FlowLimits;
  readonly #rounds: RehearsedRound[] = [];
  readonly #replays: RehearsalOutcome<T>[] = [];
  readonly #warnings: string[] = [];
  readonly #carriers = new Map<string, TokenCarrier>();
  #now: number;

  constructor(handler: Handler<Args, T>, options: RehearseOptions<Args>) {
    this.#handler = handler;
    this.#options = options;
    this.#limits = checkLimits({ ...DEFAULT_FLOW_LIMITS, ...options.limits });
    this.#now = options.startAt ?? START;
  }

  async run(): Promise<Rehearsal<T>> {
    let sent: Sent = { state: undefined, answers: this.#unasked() };
    for (let request = 1; ; request += 1) {
      const plan = this.#options.rounds?.[request] ?? {};
      this.#now += plan.advance ?? 0;
      const served = await this.#serve(sent, plan);
      if (plan.repeat === true) this.#replays.push(asOutcome(await this.#serve(sent, plan)));
      if (plan.drop === true) continue;
      if (served instanceof StateRejected || served.outcome.type !== 'suspended')
        return this.#end(asOutcome(served));
      const { questions } = served.outcome;
      const answers = this.#answer(questions, this.#rounds.length);
      if (answers === undefined) return this.#end(asOutcome(served));
      sent = { state: served.state, answers };
    }
  }

  #end(outcome: RehearsalOutcome<T>): Rehearsal<T> {
    return { outcome, rounds: this.#rounds, replays: this.#replays, warnings: this.#warnings };
  }

  async #serve(sent: Sent, plan: RoundPlan): Promise<Served<T> | StateRejected> {
    const instance = plan.instance ?? 'a';
    const carrier = this.#carrier(instance);
    const args = 'args' in plan ? plan.args : this.#options.args;
    const principal = plan.principal === undefined ? (this.#options.principal ?? null) : plan.principal;
    const binding = {
      principal: principalDigest(principal),
      request: requestDigest({ method: 'tools/call', target: 'rehearsed', arguments: args }, 64),
    };
    const policy = this.#options.version === undefined ? {} : { version: this.#options.version };
    let opened: OpenedState | undefined;
    if (sent.state !== undefined) {
      try {
        const state = plan.tamper === undefined ? sent.state : plan.tamper(sent.state);
        const result = await carrier.open(state, { kind: 'flow', policy, bind: () => binding });
        if (result.type === 'opened') opened = result.state;
      } catch (error) {
        if (error instanceof StateRejected) return error;
        throw error;
      }
    }
    const identity =
      opened === undefined ? carrier.begin(randomBytes(16), policy) : { ...opened, round: opened.round + 1 };
    const { flow, round, deadline } = identity;
    const outcome = await this.#run(args, opened, encodeBase64url(flow), round, sent.answers);
    const state =
      outcome.type === 'suspended'
        ? (
            await carrier.seal(
              { kind: 'flow', asked: outcome.asked, journal: outcome.journal },
              { flow, round, deadline },
              binding,
              policy,
            )
          ).token
        : '';
    this.#rounds.push({
      round,
      instance,
      questions: outcome.type === 'suspended' ? outcome.questions : [],
      journal: outcome.journal.map(readEntry),
      stateBytes: state.length,
    });
    return { outcome, state };
  }

  #run(
    args: unknown,
    opened: OpenedState | undefined,
    id: string,
    round: number,
    answers: unknown,
  ): Promise<RunOutcome<T>> {
    const handler = this.#handler;
    const call =
      this.#options.args === undefined
        ? (flow: Flow) => (handler as (flow: Flow) => T | Promise<T>)(flow)
        : (flow: Flow) => (handler as (args: unknown, flow: Flow) => T | Promise<T>)(args, flow);
    return runFlow(call, {
      id: () => id,
      round,
      journal: opened?.kind === 'flow' ? opened.journal : [],
      asked: opened?.asked,
      answers,
      limits: this.#limits,
      client: { ...EVERYTHING, ...this.#options.client },
      ctx: undefined,
      host: {
        now: () => this.#now,
        random: Math.random,
        uuid: () => globalThis.crypto.randomUUID(),
        digest: (text) => encodeBase64url(sha256(text)).slice(0, 22),
        scheduler: this.#scheduler(),
        warn: (message) => void this.#warnings.push(message),
      },
      ...(this.#options.uninterrupted === true && {
        inPlace: (questions) => Promise.resolve(this.#answer(questions, 1)),
      }),
    });
  }

  /** Real turns, simulated time: whoever waits has waited at once. */
  #scheduler(): Scheduler {
    return {
      ...runtimeScheduler,
      after: (ms, callback) => {
        let cancelled = false;
        runtimeScheduler.afterTurn(() => {
          if (cancelled) return;
          this.#now += ms;
          callback();
        });
        return () => {
          cancelled = true;
        };
      },
    };
  }

  /** What one machine has: the keys, and derived keys of its own. */
  #carrier(instance: string): TokenCarrier {
    const known = this.#carriers.get(instance);
    if (known !== undefined) return known;
    const now = (): number => this.#now;
    const carrier = new TokenCarrier({
      sealer: createSealer({ keys: KEYS, audience: 'rehearsal', now }),
      now,
      ttl: this.#options.ttl ?? 10 * 60_000,
      deadline: 24 * 60 * 60_000,
      stateBytes: 48 * 1024,
      pad: false,
    });
    this.#carriers.set(instance, carrier);
    return carrier;
  }

  #unasked(): Readonly<Record<string, unknown>> | undefined {
    const { unasked } = this.#options;
    if (unasked === undefined) return undefined;
    return Object.fromEntries(Object.entries(unasked).map(([key, answer]) => [key, asWireAnswer(answer)]));
  }

  /** The answers to these questions; undefined when one of them has none. */
  #answer(questions: readonly KeyedQuestion[], round: number): Readonly<Record<string, unknown>> | undefined {
    const { answers } = this.#options;
    const found: [string, unknown][] = [];
    for (const question of questions) {
      const answer =
        typeof answers === 'function'
          ? answers(question, round)
          : answers !== undefined && Object.hasOwn(answers, question.key)
            ? answers[question.key]
            : undefined;
      if (answer === undefined) return undefined;
      found.push([question.key, asWireAnswer(answer, question)]);
    }
    return Object.fromEntries(found);
  }
}

function asOutcome<T>(served: Served<T> | StateRejected): RehearsalOutcome<T> {
  if (served instanceof StateRejected) return { type: 'rejected', reason: served.reason };
  const { outcome } = served;
  switch (outcome.type) {
    case 'completed':
      return { type: 'completed', value: outcome.value };
    case 'failed':
      return { type: 'failed', error: outcome.error };
    case 'suspended':
      return { type: 'unanswered', keys: outcome.questions.map(({ key }) => key) };
  }
}
