import { AnswerRefused, CallStopped, DriveLimit, GoingNowhere } from '../errors.js';
import type { Answer } from './answer.js';
import { ask, unlessAborted, type Handlers } from './ask.js';
import { deepFreeze, jsonCopy } from './json.js';
import type { FullPolicy, RetryPreview } from './policy.js';
import type { Question } from './question.js';
import type { SavedFlow } from './saved-flow.js';
import { stopped } from './send.js';

/**
 * Whether the policy lets a call go on that asks something.
 *
 * @throws DriveLimit, GoingNowhere
 */
export function requireWithin(policy: FullPolicy, flow: SavedFlow): void {
  const { maxRounds, maxQuestions, repeats } = policy;
  const { questions } = flow;
  if (questions.length > maxQuestions) throw new DriveLimit('maxQuestions', maxQuestions, flow);
  if (questions.length > 0 && flow.repeats.times >= repeats) {
    throw new GoingNowhere(
      questions.map(({ key }) => key),
      flow.repeats.times,
      flow,
    );
  }
  // This round is over, so what would follow it must still be allowed. Waiting is not counted here.
  if (flow.round - flow.waits >= maxRounds) throw new DriveLimit('maxRounds', maxRounds, flow);
}

/**
 * Asks questions of a flow, one after another.
 *
 * @throws Unanswered, AnswerRefused, CallStopped, DriveLimit
 */
export async function askAll(
  handlers: Handlers,
  flow: SavedFlow,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Map<string, Answer>> {
  const { server, request, round } = deepFreeze(flow);
  const answers = new Map<string, Answer>();
  for (const question of questions) {
    const answer = await ask(handlers, question, { server, request, round, signal }, flow);
    answers.set(question.key, plain(question.key, answer, flow));
  }
  return answers;
}

/** A copy: what was checked is what is shown to the policy, and sent, whatever the handler does with it later. */
function plain(key: string, answer: Answer, flow: SavedFlow): Answer {
  try {
    return jsonCopy(answer);
  } catch {
    throw new AnswerRefused(key, 'it cannot be written as JSON.', flow);
  }
}

/**
 * Lets the policy see what is about to be sent.
 *
 * @throws CallStopped when it stops the call.
 */
export async function preview(
  policy: FullPolicy,
  flow: SavedFlow,
  answers: ReadonlyMap<string, Answer>,
  signal: AbortSignal,
): Promise<void> {
  const { server, request, round, questions } = flow;
  await consult(policy, { server, request, round, questions, answers: [...answers] }, signal, flow);
}

/** As {@link preview}, also for a call that has no flow. */
export async function consult(
  policy: FullPolicy,
  next: RetryPreview,
  signal: AbortSignal,
  flow?: SavedFlow,
): Promise<void> {
  let verdict: 'stop' | void;
  try {
    const shown = deepFreeze(jsonCopy(next));
    verdict = await unlessAborted(async () => policy.beforeRetry(shown), signal);
  } catch (error) {
    throw signal.aborted ? stopped(signal, flow) : new CallStopped('beforeRetry', flow, { cause: error });
  }
  if (verdict === 'stop') throw new CallStopped('beforeRetry', flow);
}
