import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange, HonestRun, Pause } from '../attack.js';
import type { Caller, JsonObject, Wire } from '../wire/message.js';
import { questionsIn } from '../judge/questions.js';
import type { Answerer } from './answers.js';
import type { Envelope } from './envelope.js';
import { exchange } from './exchange.js';

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
  /** Whether to stop at a pause; by default it is driven to its end. */
  readonly isThere?: (pause: Pause) => boolean;
}

/** Drives a new flow as a good client does: to its end, to a round, or as far as it gets. */
export async function drive(driving: Driving): Promise<HonestRun> {
  const { wire, envelope, name, caller, answer, isThere = () => false } = driving;
  const pauses: Pause[] = [];
  let request = envelope.first('tools/call', { name, arguments: driving.arguments }, caller);
  for (let round = 1; ; round += 1) {
    const last = await exchange(wire, request);
    const pause = pauseOf(last, round, answer);
    if (pause === undefined) return { pauses, last };
    pauses.push(pause);
    const hasQuestions = Object.keys(pause.questions).length > 0;
    // A round with neither gives nothing to come back with (MRTR-S-04).
    const isStuck = !hasQuestions && pause.state === undefined;
    if (round >= MOST_ROUNDS || isStuck || isThere(pause)) return { pauses, last };
    if (!hasQuestions) await sleep(BEFORE_NEXT_MS);
    request = envelope.retry(pause);
  }
}

/** The pause that an exchange ended in; undefined when it did not. */
function pauseOf({ request, reply, outcome }: Exchange, round: number, answer: Answerer): Pause | undefined {
  if (outcome.kind !== 'asked') return undefined;
  const questions = questionsIn(reply.result);
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
