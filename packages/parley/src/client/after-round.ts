import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { InvalidResponse } from '../errors.js';
import { digestOf, readQuestions } from './question.js';
import type { SavedFlow } from './saved-flow.js';
import type { Interim } from './send.js';

interface AfterRoundOptions {
  readonly declared: ClientCapabilities;
  readonly maxStateBytes: number;
  readonly now: number;
}

/**
 * Where a call stands after a round that asks.
 *
 * @throws InvalidResponse, UnsafeUrl when it asks what it must not, or gives too large a state.
 */
export async function afterRound(
  before: SavedFlow,
  { inputRequests, requestState }: Interim,
  { declared, maxStateBytes, now }: AfterRoundOptions,
): Promise<SavedFlow> {
  if (requestState !== undefined && !fits(requestState, maxStateBytes)) {
    throw new InvalidResponse(`its requestState takes more than ${maxStateBytes} bytes (maxStateBytes)`);
  }
  const questions = readQuestions(inputRequests, declared);
  const digest = await digestOf(questions);
  const { requestState: _old, sentAt: _sent, ...flow } = before;
  const isWait = questions.length === 0;
  const times = flow.repeats.digest === digest ? flow.repeats.times + 1 : 1;
  return {
    ...flow,
    revision: flow.revision + 1,
    round: flow.round + 1,
    waits: flow.waits + (isWait ? 1 : 0),
    ...(requestState !== undefined && { requestState }),
    questions,
    // A round that only waits is no progress, so it does not interrupt a row.
    repeats: isWait ? flow.repeats : { digest, times },
    askedAt: now,
  };
}

/** Whether a text takes at most so many bytes, without encoding one that cannot. */
function fits(text: string, bytes: number): boolean {
  if (text.length > bytes) return false;
  return text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes;
}
