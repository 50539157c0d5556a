import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange, HonestRun, Pause, Question } from '../attack.js';
import { outcomeOf } from '../outcome.js';
import type { Caller, JsonObject, Wire, WireRequest } from '../wire/message.js';
import { isObject } from '../wire/response.js';
import type { Answerer } from './answers.js';
import type { Envelope } from './envelope.js';

/** More rounds than a flow has that ends. */
export const MOST_ROUNDS = 20;

/** How long a good client waits before it comes back with a state alone, in ms. */
const BEFORE_NEXT_MS = 200;

/** What drives a flow. */
export interface Driving {
  readonly wire: Wire;
  readonly envelope: Envelope;
  /** The tool to be called. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly caller: Caller;
  readonly answer: Answerer;
  /** The round at whose end to stop; by default it is driven to its end. */
  readonly upTo?: number;
}

/** Drives a new flow as a good client does: to its end, to a round, or as far as it gets. */
export async function drive(driving: Driving): Promise<HonestRun> {
  const { wire, envelope, name, caller, answer, upTo = MOST_ROUNDS } = driving;
  const pauses: Pause[] = [];
  let request = envelope.first('tools/call', { name, arguments: driving.arguments }, caller);
  for (let round = 1; ; round += 1) {
    const last = await exchange(wire, request);
    const pause = pauseOf(last, round, answer);
    if (pause === undefined) return { pauses, last };
    pauses.push(pause);
    const hasQuestions = Object.keys(pause.questions).length > 0;
    // A round with neither gives nothing to come back with (MRTR-S-04).
    if (round >= upTo || (!hasQuestions && pause.state === undefined)) return { pauses, last };
    if (!hasQuestions) await sleep(BEFORE_NEXT_MS);
    request = envelope.retry(pause);
  }
}

/** Sends, and says what came of it. */
export async function exchange(wire: Wire, request: WireRequest): Promise<Exchange> {
  const reply = await wire.send(request);
  return { request, reply, outcome: outcomeOf(reply) };
}

/** The pause that an exchange ended in; undefined when it did not. */
function pauseOf({ request, reply, outcome }: Exchange, round: number, answer: Answerer): Pause | undefined {
  if (outcome.kind !== 'asked') return undefined;
  const questions = questionsOf(reply.result?.['inputRequests']);
  const answers = Object.entries(questions).map(([key, question]): [string, JsonObject] => [
    key,
    answer(key, question),
  ]);
  return {
    round,
    caller: request.caller,
    request,
    reply,
    state: outcome.state,
    questions,
    answers: Object.fromEntries(answers),
  };
}

/** Questions as far as they are some: what is malformed is seen in the reply itself. */
function questionsOf(inputRequests: unknown): Record<string, Question> {
  if (!isObject(inputRequests)) return {};
  const questions = Object.entries(inputRequests).flatMap(([key, value]): [string, Question][] => {
    if (!isObject(value) || typeof value['method'] !== 'string') return [];
    const { method, params } = value;
    return [[key, { method, params: isObject(params) ? params : {} }]];
  });
  return Object.fromEntries(questions);
}
