import type { InputRequiredResult, Result } from '@modelcontextprotocol/server';
import type {
  CarriedState,
  FlowIdentity,
  FlowState,
  OpenedState,
  StatePolicy,
  TokenCarrier,
} from '../carrier/index.js';
import { StateRejected, TooManyRounds } from '../errors.js';
import { randomBytes } from '../seal/index.js';
import type { Bind } from './binding.js';
import type { EventSource } from './events.js';
import type { GateHost, GateParts } from './gate-parts.js';
import type { Refusals } from './refusals.js';
import type { Registrations } from './registrations.js';
import type { Round } from './round.js';

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The states of rounds: opens what comes in, says what a round goes on from, and seals what goes out. */
export class RoundStates {
  readonly #host: GateHost;
  readonly #carrier: TokenCarrier;
  readonly #registrations: Registrations;
  readonly #refusals: Refusals;

  constructor(
    host: GateHost,
    { carrier, registrations }: Pick<GateParts, 'carrier' | 'registrations'>,
    refusals: Refusals,
  ) {
    this.#host = host;
    this.#carrier = carrier;
    this.#registrations = registrations;
    this.#refusals = refusals;
  }

  /**
   * Opens the state of a request.
   *
   * @throws ProtocolError the one answer to every state that is not accepted.
   */
  async open(source: EventSource, token: unknown, bind: Bind): Promise<OpenedState> {
    try {
      const opened = await this.#carrier.open(token, bind);
      if (opened.state.kind === 'plain') {
        this.#carrier.admit(opened, 'plain', {});
      } else if (!this.#registrations.mayBeFlow(source.method, source.target)) {
        // Which flow, and so which policy, only the SDK's dispatch will tell; see `admit`.
        throw new StateRejected('kind');
      }
      return opened;
    } catch (error) {
      throw this.#refusals.ofState(source, error);
    }
  }

  /** What the flow goes on from: its state, or nothing when it starts, or starts over. */
  admit(round: Round, policy: StatePolicy): FlowState | undefined {
    const { opened } = round;
    if (opened === undefined) return undefined;
    try {
      if (this.#carrier.admit(opened, 'flow', policy) === 'restart') return undefined;
    } catch (error) {
      round.fail(this.#refusals.ofState(round.source, error));
    }
    this.tellOpened(round, opened);
    return opened.state.kind === 'flow' ? opened.state : undefined;
  }

  /** The identity of the flow in this round: the next of what it goes on from, or a new one. */
  identityOf({ opened }: Round, state: CarriedState | undefined, policy: StatePolicy): FlowIdentity {
    if (opened === undefined || state === undefined) return this.#carrier.begin(randomBytes(16), policy);
    const { flow, round, waits, deadline } = opened;
    return { flow, round: round + 1, waits, deadline };
  }

  /** Seals the state in which a round ends. */
  async seal(
    round: Round,
    identity: FlowIdentity,
    state: CarriedState,
    policy: StatePolicy,
  ): Promise<string> {
    const trace: unknown = round.ctx.mcpReq._meta?.['traceparent'];
    const { token, expires } = await this.#carrier.seal(
      state,
      identity,
      await round.bind(),
      policy,
      typeof trace === 'string' && TRACEPARENT.test(trace) ? trace : undefined,
    );
    this.#host.events.emit('sealed', () => ({ ...round.event(identity), bytes: token.length, expires }));
    return token;
  }

  /** Seals the state of a handler that was written by hand with the SDK's `inputRequired()`. */
  async sealByHand(round: Round, result: InputRequiredResult): Promise<Result> {
    const { rounds } = this.#host.settings.limits;
    const identity = this.identityOf(round, round.opened?.state, {});
    if (identity.round >= rounds) throw new TooManyRounds('rounds', rounds);
    const asked = Object.keys(result.inputRequests ?? {}).map((key) => ({ key, digest: '' }));
    await this.bind(round);
    const text = result.requestState ?? '';
    return { ...result, requestState: await this.seal(round, identity, { kind: 'plain', asked, text }, {}) };
  }

  /** Sees to it, at once or soon, that a state of this round could be bound; else leaves the error for the wire and throws it. */
  bind(round: Round): Promise<void> | undefined {
    const binding = round.bind();
    return binding instanceof Promise ? this.#bound(round, binding) : undefined;
  }

  async #bound(round: Round, binding: Promise<unknown>): Promise<void> {
    try {
      await binding;
    } catch (error) {
      round.fail(this.#refusals.ofBinding(round.source, error));
    }
  }

  /** Tells the listeners that a state was accepted. */
  tellOpened(round: Round, opened: OpenedState): void {
    const { kid, current, position, trace } = opened;
    this.#host.events.emit('opened', () => ({
      ...round.event({ ...opened, round: opened.round + 1 }),
      kid,
      ...(trace !== undefined && { trace }),
    }));
    if (!current) this.#host.events.emit('keyUsed', () => ({ kid, position }));
  }
}
