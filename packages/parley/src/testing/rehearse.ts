import {
  TokenCarrier,
  questionDigest,
  type Binding,
  type FlowIdentity,
  type FlowState,
  type OpenedState,
} from '../carrier/index.js';
import { StateRejected, StateTooLarge, type RejectionReason } from '../errors.js';
import {
  checkLimits,
  DEFAULT_FLOW_LIMITS,
  readAttempt,
  readEntry,
  runFlow,
  runtimeScheduler,
  writeAttempt,
  type AttachedOutcome,
  type Attempt,
  type ClientView,
  type Flow,
  type FlowLimits,
  type Journal,
  type KeyedQuestion,
  type OnceRequest,
  type RunInput,
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
} from '../seal/index.js';
import { asWireAnswer } from './answers.js';
import type {
  Rehearsal,
  RehearsalOutcome,
  RehearsedRound,
  RehearseOptions,
  ReplayOutcome,
  RoundPlan,
} from './rehearsal.js';
import { rehearseTask, type TaskRunInput } from './rehearsed-task.js';

type HandlerWithArgs<Args, Ctx, T> = (args: Args, flow: Flow<Ctx>) => T | Promise<T>;
type BareHandler<Ctx, T> = (flow: Flow<Ctx>) => T | Promise<T>;

/** Made anew for each process: a rehearsal's states are nothing to anybody else. */
const KEYS = parseKeys(generateKey());

const START = Date.UTC(2026, 6, 28);

const EVERYTHING: ClientView = {
  elicitation: { form: true, url: true },
  sampling: { messages: true, tools: true },
  roots: true,
  extensions: new Set(['io.modelcontextprotocol/tasks']),
};

/**
 * Runs a flow round by round in memory: each round seals its state, opens it again for the next, and runs the
 * handler from its top, as servers do. Needs no server, no client and no waiting: time is simulated. Once it has
 * detached it goes on as a task does: its journal stays, and only answers come.
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
export function rehearse<Args, T, Ctx = unknown>(
  handler: HandlerWithArgs<Args, Ctx, T>,
  options: RehearseOptions<Ctx> & { readonly args: Args },
): Promise<Rehearsal<T>>;
export function rehearse<T, Ctx = unknown>(
  handler: BareHandler<Ctx, T>,
  options?: RehearseOptions<Ctx>,
): Promise<Rehearsal<T>>;
export async function rehearse<Args, T, Ctx>(
  handler: HandlerWithArgs<Args, Ctx, T> | BareHandler<Ctx, T>,
  options: RehearseOptions<Ctx> & { readonly args?: Args } = {},
): Promise<Rehearsal<T>> {
  const call = (args: unknown, flow: Flow<Ctx>): T | Promise<T> =>
    'args' in options
      ? (handler as HandlerWithArgs<unknown, Ctx, T>)(args, flow)
      : (handler as BareHandler<Ctx, T>)(flow);
  return await new Rehearsing(call, options, options.args).run();
}

interface Sent {
  readonly state: string | undefined;
  readonly answers: Readonly<Record<string, unknown>> | undefined;
}

/** What came of one request. */
type Served<T> =
  | { readonly type: 'rejected'; readonly reason: RejectionReason }
  | { readonly type: 'task'; readonly task: Task }
  | Sealed<T>;

interface Sealed<T> {
  readonly type: 'round';
  readonly outcome: AttachedOutcome<T>;
  readonly state: string;
}

/** A flow that has detached. */
interface Task {
  readonly journal: Journal;
  readonly identity: FlowIdentity;
  readonly args: unknown;
}

class Rehearsing<Ctx, T> {
  readonly #call: HandlerWithArgs<unknown, Ctx, T>;
  readonly #options: RehearseOptions<Ctx>;
  readonly #args: unknown;
  readonly #limits: FlowLimits;
  readonly #rounds: RehearsedRound[] = [];
  readonly #replays: ReplayOutcome<T>[] = [];
  readonly #warnings: string[] = [];
  readonly #carriers = new Map<string, TokenCarrier>();
  readonly #done = new Map<string, string>();
  readonly #tasks = new Map<string, Task>();
  #now: number;

  constructor(call: HandlerWithArgs<unknown, Ctx, T>, options: RehearseOptions<Ctx>, args: unknown) {
    this.#call = call;
    this.#options = options;
    this.#args = args;
    this.#limits = checkLimits({ ...DEFAULT_FLOW_LIMITS, ...options.limits });
    this.#now = options.startAt ?? START;
  }

  async run(): Promise<Rehearsal<T>> {
    let sent: Sent = { state: undefined, answers: this.#unasked() };
    for (let request = 1; ; request += 1) {
      const plan = this.#options.rounds?.[request] ?? {};
      this.#now += plan.advance ?? 0;
      const served = await this.#serve(sent, plan);
      if (plan.repeat === true) this.#replays.push(shown(await this.#serve(sent, plan)));
      if (plan.drop === true) continue;
      if (served.type === 'task') return this.#end(asOutcome(await this.#runTask(served.task, request)));
      if (served.type === 'rejected') return this.#end(served);
      if (served.outcome.type !== 'suspended') return this.#end(asOutcome(served.outcome));
      const { questions } = served.outcome;
      const answers = this.#answer(questions, this.#rounds.at(-1)?.round ?? 1);
      if (answers === undefined) return this.#end(asOutcome(served.outcome));
      sent = { state: served.state, answers };
    }
  }

  #end(outcome: RehearsalOutcome<T>): Rehearsal<T> {
    return { outcome, rounds: this.#rounds, replays: this.#replays, warnings: this.#warnings };
  }

  /** What a server does with one request: opens its state, runs the handler, seals what it ends with. */
  async #serve(sent: Sent, plan: RoundPlan): Promise<Served<T>> {
    const instance = plan.instance ?? 'a';
    const carrier = this.#carrier(instance);
    const args = 'args' in plan ? plan.args : this.#args;
    const principal = plan.principal === undefined ? (this.#options.principal ?? null) : plan.principal;
    const binding: Binding = {
      principal: principalDigest(principal),
      request: requestDigest({ method: 'tools/call', target: 'rehearsed', arguments: args }, 64),
    };
    const policy = this.#options.policy ?? {};
    const opened = await this.#open(sent, plan, carrier, binding);
    if (opened instanceof StateRejected) return { type: 'rejected', reason: opened.reason };
    // As in the gate: answers that come with a state that is started over are dropped with it.
    const restarts = sent.state !== undefined && opened === undefined;
    const answers = restarts ? undefined : sent.answers;
    const identity: FlowIdentity =
      opened === undefined ? carrier.begin(randomBytes(16), policy) : { ...opened, round: opened.round + 1 };
    const { flow, round, deadline } = identity;
    const ran = await runFlow(this.#handler(args), {
      ...this.#input(identity),
      journal: opened?.state.kind === 'flow' ? opened.state.journal : [],
      asked: opened?.state.asked,
      answers,
      limits: this.#limits,
      detached: this.#options.uninterrupted === true ? 'done' : 'possible',
    });
    if (ran.type === 'detached') {
      this.#note(identity, instance, ran, 0);
      return { type: 'task', task: this.#taskOf({ journal: ran.journal, identity, args }) };
    }
    const sealed = await seal(ran, (carried, waits) =>
      carrier.seal(carried, { flow, round, deadline, waits: identity.waits + waits }, binding, policy),
    );
    this.#note(identity, instance, sealed.outcome, sealed.state.length);
    return sealed;
  }

  /** A flow makes one task: the same round presented again gives the same. */
  #taskOf(task: Task): Task {
    const id = encodeBase64url(task.identity.flow);
    const known = this.#tasks.get(id) ?? task;
    this.#tasks.set(id, known);
    return known;
  }

  async #runTask({ journal, identity, args }: Task, request: number): Promise<AttachedOutcome<T>> {
    let answered = request;
    let instance = this.#options.rounds?.[request]?.instance ?? 'a';
    return await rehearseTask({
      journal,
      limits: this.#limits,
      run: async (input) => {
        const outcome = await runFlow(this.#handler(args), { ...this.#input(identity), ...input });
        this.#note(identity, instance, outcome, 0);
        return outcome;
      },
      answer: (questions) => {
        const plan = this.#options.rounds?.[(answered += 1)];
        this.#now += plan?.advance ?? 0;
        instance = plan?.instance ?? instance;
        return this.#answer(questions, identity.round);
      },
    });
  }

  #note({ round }: FlowIdentity, instance: string, outcome: RunOutcome<T>, stateBytes: number): void {
    this.#rounds.push({
      round,
      instance,
      questions: outcome.type === 'suspended' ? outcome.questions : [],
      journal: outcome.journal.map(readEntry),
      stateBytes,
    });
  }

  async #open(
    { state }: Sent,
    { tamper }: RoundPlan,
    carrier: TokenCarrier,
    binding: Binding,
  ): Promise<OpenedState | StateRejected | undefined> {
    if (state === undefined) return undefined;
    try {
      const token = tamper === undefined ? state : tamper(state);
      const policy = this.#options.policy ?? {};
      const opened = await carrier.open(token, () => binding);
      return carrier.admit(opened, 'flow', policy) === 'restart' ? undefined : opened;
    } catch (error) {
      if (error instanceof StateRejected) return error;
      throw error;
    }
  }

  #handler(args: unknown): (flow: Flow<Ctx>) => T | Promise<T> {
    return (flow) => this.#call(args, flow);
  }

  /** What all runs of a flow have alike. */
  #input({ flow: id, round, waits }: FlowIdentity): Omit<RunInput<Ctx>, keyof TaskRunInput> {
    return {
      id: () => encodeBase64url(id),
      round,
      waits,
      client: { ...EVERYTHING, ...this.#options.client },
      ctx: this.#options.ctx as Ctx,
      host: {
        now: () => this.#now,
        random: Math.random,
        uuid: () => globalThis.crypto.randomUUID(),
        digest: questionDigest,
        scheduler: this.#scheduler(),
        warn: (message) => void this.#warnings.push(message),
      },
      once: (request) => this.#doOnce(encodeBase64url(id), request),
      ...(this.#options.uninterrupted === true && {
        inPlace: (questions) => Promise.resolve(this.#answer(questions, 1)),
      }),
    };
  }

  /** What a ledger does, for as long as this rehearsal: work that was done gives its recorded result. */
  async #doOnce(flow: string, { key, id, work, attempt }: OnceRequest): Promise<Attempt> {
    const name = JSON.stringify(id === undefined ? { flow, key } : { key, id });
    const known = this.#done.get(name);
    if (known !== undefined) return readAttempt(known);
    const result = await attempt(work);
    this.#done.set(name, writeAttempt(key, result));
    return result;
  }

  /** Real turns, simulated time: one timer a turn, the earliest, is due at once. */
  #scheduler(): Scheduler {
    const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
    const takeTurn = (): void => runtimeScheduler.afterTurn(fire);
    const fire = (): void => {
      const [next] = [...timers].toSorted((a, b) => a.at - b.at);
      if (next === undefined) return;
      timers.delete(next);
      if (timers.size > 0) takeTurn();
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    };
    return {
      ...runtimeScheduler,
      after: (ms, callback) => {
        const timer = { at: this.#now + ms, callback };
        if (timers.add(timer).size === 1) takeTurn();
        return () => void timers.delete(timer);
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
      ttl: 10 * 60_000,
      deadline: 24 * 60 * 60_000,
      stateBytes: this.#options.stateBytes ?? 48 * 1024,
      pad: false,
      clockSkew: 0,
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

/** Seals what a suspended run ends with. One that is too large fails the flow, as it does on a server. */
async function seal<T>(
  outcome: AttachedOutcome<T>,
  carry: (state: FlowState, waits: number) => Promise<{ readonly token: string }>,
): Promise<Sealed<T>> {
  if (outcome.type !== 'suspended') return { type: 'round', outcome, state: '' };
  const { asked, journal, questions } = outcome;
  try {
    const { token } = await carry({ kind: 'flow', asked, journal }, questions.length === 0 ? 1 : 0);
    return { type: 'round', outcome, state: token };
  } catch (error) {
    if (!(error instanceof StateTooLarge)) throw error;
    return { type: 'round', outcome: { type: 'failed', error, journal }, state: '' };
  }
}

function shown<T>(served: Served<T>): ReplayOutcome<T> {
  if (served.type === 'round') return asOutcome(served.outcome);
  return served.type === 'task' ? { type: 'task' } : served;
}

function asOutcome<T>(outcome: AttachedOutcome<T>): RehearsalOutcome<T> {
  const detached = outcome.journal.some((text) => readEntry(text).type === 'detach') && {
    detached: true as const,
  };
  switch (outcome.type) {
    case 'completed':
      return { type: 'completed', value: outcome.value, ...detached };
    case 'failed':
      return { type: 'failed', error: outcome.error, ...detached };
    case 'suspended':
      return { type: 'unanswered', keys: outcome.questions.map(({ key }) => key), ...detached };
  }
}
