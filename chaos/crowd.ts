/**
 * Many clients at once. They come in lanes; in each lane heat follows heat, and in a heat several clients go for
 * fewer coupons at the same time. After a flow its client may turn against the server with what it still holds.
 */
import { makeCall, type CallParts, type Client } from './client.js';
import { runFlow, type AnsweredRound, type FlowReport, type FlowTools } from './flow.js';
import type { Random } from './random.js';
import type { FaultName, Report } from './report.js';
import type { Timeline } from './timeline.js';
import type { Effective, Endpoint } from './wire.js';

/** Lanes, and clients of each. Their product is how many flows are under way at once. */
const LANES = 16;
const CLIENTS = 4;

/** How often a client presents again what it holds, after a flow. */
const MISCHIEF: readonly (readonly ['again' | 'other' | 'foreign', number])[] = [
  ['again', 0.12],
  ['other', 0.08],
  ['foreign', 0.03],
];

/** How often a flow goes for a coupon of an earlier heat, to lose. */
const LATE = 0.1;

/** How often a client tries a state of a key that was dropped, if it has one. */
const STALE = 0.05;

/** What a lane remembers: rounds for longer than a rotation takes, so that some are of a key that was dropped. */
const MEMORY = { rounds: 400, coupons: 40 } as const;

/** How often a flow is begun again because its key was dropped. */
const RESTARTS = 5;

interface Coupon {
  readonly endpoint: Endpoint;
  readonly coupon: string;
  readonly effective: Effective;
}

/** All clients. */
export class Crowd {
  readonly #client: Client;
  readonly #random: Random;
  readonly #report: Report;
  readonly #timeline: Timeline;
  readonly #flows: FlowReport[] = [];
  /** When each heat that is under way began. */
  readonly #heats = new Map<symbol, number>();

  constructor({ client, random, report, timeline }: FlowTools) {
    this.#client = client;
    this.#random = random;
    this.#report = report;
    this.#timeline = timeline;
  }

  /** Every flow that came to an end. */
  get flows(): readonly FlowReport[] {
    return this.#flows;
  }

  /** When the oldest heat that is under way began, in ms since 1970; Infinity when there is none. */
  get oldest(): number {
    return Math.min(Infinity, ...this.#heats.values());
  }

  /** Runs until told that it is enough; then what is under way is brought to its end. */
  async run(enough: () => boolean): Promise<void> {
    await Promise.all(Array.from({ length: LANES }, (_, lane) => this.#lane(lane, enough)));
  }

  async #lane(lane: number, enough: () => boolean): Promise<void> {
    const memory: AnsweredRound[] = [];
    let late: Coupon[] = [];
    let { epoch } = this.#timeline;
    for (let heat = 0; !enough(); heat += 1) {
      if (epoch !== this.#timeline.epoch) {
        // Records live no longer than the key that they are sealed under, so these coupons are over.
        ({ epoch } = this.#timeline);
        late = [];
      }
      const random = this.#random.fork('lane', lane, 'heat', heat);
      const coupons = makeCoupons(random, `${lane}.${heat}`);
      const token = Symbol('heat');
      this.#heats.set(token, Date.now());
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, index) => {
          const own = random.fork('client', index);
          const coupon = (own.chance(LATE) ? own.pick(late) : undefined) ?? own.pick(coupons);
          if (coupon === undefined) return;
          await this.#takePart(own, { lane, heat, index }, coupon, memory);
        }),
      );
      this.#heats.delete(token);
      late = [...late, ...coupons].slice(-MEMORY.coupons);
      memory.splice(0, memory.length - MEMORY.rounds);
    }
  }

  /** One client in one heat: a flow to its end, and then perhaps some mischief. */
  async #takePart(
    random: Random,
    { lane, heat, index }: { readonly lane: number; readonly heat: number; readonly index: number },
    { endpoint, ...coupon }: Coupon,
    memory: AnsweredRound[],
  ): Promise<void> {
    const bearer = bearerOf(lane, index);
    const tools = { client: this.#client, report: this.#report, timeline: this.#timeline };
    for (let restart = 0; restart <= RESTARTS; restart += 1) {
      const label = `${lane}.${heat}.${index}${restart === 0 ? '' : `~${restart}`}`;
      const person = `person ${label}`;
      const plan = { label, endpoint, bearer, arguments: { person, ...coupon } };
      const flow = await runFlow(plan, { ...tools, random: random.fork('flow', restart) });
      this.#flows.push(flow);
      this.#report.count(flow.end.type);
      if (flow.end.type === 'ended' && flow.end.redemption.won) this.#report.count('won');
      memory.push(...flow.rounds);
      if (flow.end.type !== 'restarted') break;
    }
    await this.#mischief(random, memory);
  }

  async #mischief(random: Random, memory: readonly AnsweredRound[]): Promise<void> {
    for (const [kind, odds] of MISCHIEF) {
      if (!random.chance(odds)) continue;
      // What has just been answered, or something from long ago.
      const round = random.pick(random.chance(0.5) ? memory.slice(-6) : memory);
      if (round !== undefined) await this.#present(kind, round, random);
    }
    if (!random.chance(STALE)) return;
    const stale = random.pick(memory.filter(({ stateAt }) => stateAt < this.#timeline.staleBefore));
    if (stale !== undefined) await this.#present('dropped', stale, random);
  }

  /** Presents an old state again, and judges what comes of it. */
  async #present(
    kind: Extract<FaultName, 'again' | 'other' | 'foreign' | 'dropped'>,
    { parts, call, text, stateAt }: AnsweredRound,
    random: Random,
  ): Promise<void> {
    const label = `${parts.label}/${kind}${random.int(0, 1e9)}`;
    const presented = {
      again: { ...call, label },
      dropped: { ...call, label },
      other: makeCall({ ...parts, label, inputResponses: otherAnswers(parts.inputResponses) }),
      foreign: { ...call, label, bearer: `${parts.bearer} too` },
    }[kind];
    const stale = stateAt < this.#timeline.staleBefore;
    this.#report.fault(kind);
    const outcome = await this.#client.exchange(presented);
    const wrong = (what: string): void => this.#report.violation(`${label}: ${what}`);
    switch (outcome.type) {
      case 'result':
        if (kind === 'other') wrong('an old state was taken with other answers');
        else if (kind === 'foreign') wrong(`somebody else's state was taken`);
        else if (stale) wrong('a state of a key that is gone everywhere was taken');
        else if (outcome.text !== text) wrong(`another response than before: ${outcome.text.slice(0, 200)}`);
        return;
      case 'rejected':
        if (kind !== 'again' || this.#timeline.between(stateAt, Date.now(), 'keys-dropped').length > 0)
          return;
        wrong('an old state with the same answers was rejected');
        return;
      case 'stuck':
        wrong(`came to no end (last: ${outcome.last})`);
        return;
      case 'unexpected':
        wrong(outcome.text);
    }
  }
}

function bearerOf(lane: number, index: number): string {
  return `client ${lane}.${index}`;
}

/** The coupons of a heat: one to three, all on one ledger. */
function makeCoupons(random: Random, label: string): readonly Coupon[] {
  const endpoint = random.pick(['redis', 'postgres'] as const);
  return Array.from({ length: random.int(1, 3) }, (_, index) => {
    const effective = endpoint === 'postgres' && random.chance(0.5) ? 'transaction' : 'log';
    return { endpoint, coupon: `coupon ${label}.${index}`, effective };
  });
}

/** Answers to the same questions that say something else. */
function otherAnswers(answers: CallParts['inputResponses']): Readonly<Record<string, unknown>> {
  return 'note' in (answers ?? {})
    ? { note: { action: 'accept', content: { note: 'a changed mind' } } }
    : { sure: { action: 'decline' } };
}
