/**
 * Holds what clients saw against what was done.
 *
 *  C1  A coupon was redeemed at most once, and the work for it begun at most once (but in a transaction, where what
 *      was begun and not committed was not done).
 *  C2  A flow that ended as the winner redeemed its coupon, under its own id; a flow that ended as a loser names the
 *      flow that did.
 *  C3  A flow that ended has sent exactly one mail; no flow has sent two.
 *  C4  Nobody was answered with what belongs to another: person, note, ticket, coupon.
 *  C5  An outcome is unknown only where a fault hit the work; never for work in a transaction, unless the key was
 *      dropped that its record was sealed under.
 */
import type { Effect } from './effects.js';
import type { FlowReport } from './flow.js';
import type { FaultKind, Timeline } from './timeline.js';

/** Longest time from the beginning of work to the fault that hit it, in ms: the work, and all tries to record it. */
const WORK_MS = 5_000;

/** Everything that was seen. */
export interface Seen {
  readonly flows: readonly FlowReport[];
  readonly effects: readonly Effect[];
  readonly timeline: Timeline;
}

/** What must not have been, one text each. */
export function* check({ flows, effects, timeline }: Seen): Iterable<string> {
  const book = new Book(effects);
  yield* checkEffects(flows, effects, book);
  for (const flow of flows) yield* checkFlow(flow, book);
  for (const rivals of groupBy(flows, ({ arguments: { coupon } }) => coupon).values()) {
    yield* checkOutcomes(rivals, book, timeline);
  }
}

/** The effects, by what they are asked for by. */
class Book {
  readonly #redemptions: ReadonlyMap<string, readonly Effect[]>;
  readonly #mails: ReadonlyMap<string, readonly Effect[]>;
  readonly #begins: ReadonlyMap<string, readonly Effect[]>;

  constructor(effects: readonly Effect[]) {
    const of = (kind: Effect['kind']): readonly Effect[] => effects.filter((effect) => effect.kind === kind);
    this.#redemptions = groupBy(of('redeem'), ({ coupon }) => coupon);
    this.#mails = groupBy(of('mail'), ({ person }) => person);
    this.#begins = groupBy(
      of('begin'),
      ({ key, coupon, person }) => `${key} ${key === 'redeem' ? coupon : person}`,
    );
  }

  redemptions(coupon: string): readonly Effect[] {
    return this.#redemptions.get(coupon) ?? [];
  }

  mails(person: string): readonly Effect[] {
    return this.#mails.get(person) ?? [];
  }

  begins({ arguments: { coupon, person } }: FlowReport, key: Effect['key']): readonly Effect[] {
    return this.#begins.get(`${key} ${key === 'redeem' ? coupon : person}`) ?? [];
  }

  *tooMany(): Iterable<string> {
    for (const [coupon, all] of this.#redemptions) {
      if (all.length > 1) yield `${coupon} was redeemed ${all.length} times: ${all.map(tell).join('; ')}`;
    }
    for (const [person, all] of this.#mails) {
      if (all.length > 1) yield `${person} got ${all.length} mails: ${all.map(tell).join('; ')}`;
    }
    for (const [work, all] of this.#begins) {
      if (all.length > 1) yield `'${work}' was begun ${all.length} times: ${all.map(tell).join('; ')}`;
    }
  }
}

/** C1, C3, and C4 as the effects have it. */
function* checkEffects(
  flows: readonly FlowReport[],
  effects: readonly Effect[],
  book: Book,
): Iterable<string> {
  yield* book.tooMany();
  const byPerson = new Map(flows.map((flow) => [flow.arguments.person, flow]));
  for (const effect of effects) {
    const flow = byPerson.get(effect.person);
    if (flow === undefined) yield `an effect for somebody who never was there: ${tell(effect)}`;
    else if (effect.coupon !== flow.arguments.coupon || effect.note !== flow.note) {
      yield `an effect with another's data: ${tell(effect)}`;
    }
  }
}

/** C2, C3, and C4 as the client has it. */
function* checkFlow(flow: FlowReport, book: Book): Iterable<string> {
  if (flow.end.type !== 'ended') return;
  const { label, end, note, ticket, arguments: args } = flow;
  const { redemption } = end;
  const said = { ...redemption, note, ticket, person: args.person, coupon: args.coupon };
  if (JSON.stringify(said) !== JSON.stringify(redemption)) {
    yield `${label} was answered with another's data: ${JSON.stringify(redemption)}`;
  }
  if (redemption.won !== (redemption.winner === redemption.flow)) yield `${label} contradicts itself`;
  const [done] = book.redemptions(args.coupon);
  if (done === undefined) yield `${label} ended, and ${args.coupon} was never redeemed`;
  else if (done.flow !== redemption.winner) {
    yield `${label} was told that ${redemption.winner} redeemed ${args.coupon}: ${tell(done)}`;
  } else if (redemption.won && done.person !== args.person) {
    yield `${label} won ${args.coupon}, redeemed for another: ${tell(done)}`;
  }
  const mails = book.mails(args.person).filter((mail) => mail.flow === redemption.flow);
  if (mails.length !== 1) yield `${label} ended, and ${mails.length} mails were sent`;
}

/** C5, for all flows that went for the same coupon. */
function* checkOutcomes(rivals: readonly FlowReport[], book: Book, timeline: Timeline): Iterable<string> {
  const first = Math.min(...rivals.map(({ from }) => from));
  for (const flow of rivals) {
    const { label, endpoint, end, to, arguments: args } = flow;
    if (end.type === 'workFailed') {
      const hit = timeline.between(first, to, 'postgres').length > 0;
      if (args.effective !== 'transaction' || !hit) yield `${label}: no reason to fail: ${end.text}`;
      if (book.redemptions(args.coupon).length > 0) yield `${label} failed, and ${args.coupon} was redeemed`;
    }
    if (end.type !== 'unknown') continue;
    const from = end.key === 'redeem' ? first : flow.from;
    const hit = (...kinds: readonly FaultKind[]): boolean => timeline.between(from, to, ...kinds).length > 0;
    if (hit('keys-dropped')) continue;
    const what = `${label} does not know what came of '${end.key}' for ${args.coupon}`;
    if (end.key === 'redeem' && args.effective === 'transaction') yield `${what}, which is a transaction`;
    else if (!hit(endpoint) && !wasHit(book.begins(flow, end.key), from, to, timeline)) {
      yield `${what}, and no fault hit it`;
    }
  }
}

/** Whether the process that did the work was killed or stalled in it, or one that may have claimed it just before. */
function wasHit(begins: readonly Effect[], from: number, to: number, timeline: Timeline): boolean {
  const [begun] = begins;
  if (begun === undefined) return timeline.between(from, to, 'kill', 'stall').length > 0;
  return timeline
    .between(begun.at, Math.min(to, begun.at + WORK_MS), 'kill', 'stall')
    .some(({ life }) => life === begun.life);
}

function tell({ kind, coupon, flow, person, life, at }: Effect): string {
  return `${kind} of ${coupon} by flow ${flow} for ${person} in ${life} at ${at}`;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
