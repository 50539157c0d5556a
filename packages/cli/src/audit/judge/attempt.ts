import type { AuditContext, Changes, Exchange, Pause } from '../attack.js';
import type { JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';
import { placeOf, type Place } from './place.js';
import { chosenRounds } from './rounds.js';

/** A retry that an honest client does not send, and what it led to. */
export interface Attempt {
  readonly pause: Pause;
  readonly exchange: Exchange;
  readonly place: Place;
  /** Whether the server went on, as if the retry were good. */
  readonly isTaken: boolean;
}

/**
 * Drives a new flow up to a round and retries there with changes.
 * Undefined if the flow did not get there, or there is nothing to change.
 */
export async function attempt(
  context: AuditContext,
  round: number,
  changesOf: (pause: Pause) => Changes | undefined,
): Promise<Attempt | undefined> {
  const pause = await context.walkTo(round);
  const changes = pause && changesOf(pause);
  if (!pause || !changes) return undefined;
  const before = await context.effects();
  const exchange = await context.retry(pause, changes);
  const place = placeOf(context, pause, exchange);
  const isTaken = place === 'next' || place === 'task' || (place === 'done' && (await hasEnded()));
  return { pause, exchange, place, isTaken };

  /** Done is not always done: a flow also ends when the user says no. */
  async function hasEnded(): Promise<boolean> {
    const after = await context.effects();
    // Only that it did not happen is sure: another attack may have had an effect meanwhile.
    if (before !== undefined && after !== undefined && after <= before) return false;
    const ends = await endsOfNo(context, round);
    return !ends.has(textOf(exchange.reply.result));
  }
}

/** The rounds that are attacked by their answers: those with questions. */
export function roundsOf({ honest }: AuditContext): readonly number[] {
  return chosenRounds(honest.pauses.filter(({ questions }) => Object.keys(questions).length > 0));
}

/** An answer of every question of a round. */
export function answerAll(pause: Pause, answer: (honest: JsonObject, key: string) => unknown): unknown {
  return Object.fromEntries(
    Object.keys(pause.questions).map((key) => [key, answer(pause.answers[key] ?? {}, key)]),
  );
}

/** The results of a round in which the user says no, in each way there is. */
const seen = new WeakMap<AuditContext, Map<number, Promise<ReadonlySet<string>>>>();

function endsOfNo(context: AuditContext, round: number): Promise<ReadonlySet<string>> {
  const rounds = seen.get(context) ?? new Map<number, Promise<ReadonlySet<string>>>();
  seen.set(context, rounds);
  const known = rounds.get(round) ?? sayNo(context, round);
  rounds.set(round, known);
  return known;
}

async function sayNo(context: AuditContext, round: number): Promise<ReadonlySet<string>> {
  const ways = [
    (): unknown => ({ action: 'decline' }),
    (): unknown => ({ action: 'cancel' }),
    (honest: JsonObject): unknown => ({ ...honest, content: withoutConsent(honest['content']) }),
  ];
  const ends = new Set<string>();
  for (const way of ways) {
    const pause = await context.walkTo(round);
    if (!pause) continue;
    const { outcome, reply } = await context.retry(pause, { answers: answerAll(pause, way) });
    if (outcome.kind === 'done') ends.add(textOf(reply.result));
  }
  ends.delete(textOf(context.honest.last.reply.result)); // no and yes look alike: then it says nothing
  return ends;
}

function withoutConsent(content: unknown): JsonObject {
  if (!isObject(content)) return {};
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'boolean' ? false : value]),
  );
}

/** A result's text, without what may differ from one response to the next. */
function textOf(result: JsonObject | undefined): string {
  return JSON.stringify(result, (key, value: unknown) => (key === '_meta' ? undefined : value)) ?? '';
}
