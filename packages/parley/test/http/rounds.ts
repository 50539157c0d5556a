import type { Call } from './calls.js';
import { draft, finish, type Fault } from './faults.js';
import type { Loopback, RawResponse } from './raw-request.js';

/** The states that rounds end with, and what to answer in them. */
export interface Asking {
  readonly call: Call;
  /** Of each round after the first. */
  readonly answers: readonly Record<string, unknown>[];
}

const accept = (content: Record<string, unknown>) => ({ action: 'accept', content });

/** Calls that ask, with the answers that end them. */
export const ASKING: Readonly<Record<string, Asking>> = {
  'tool by hand': asking('tools/call', { name: 'ask', arguments: { who: 'Ann' } }, [
    { age: accept({ age: 3 }) },
  ]),
  'tool of three rounds': asking('tools/call', { name: 'deploy', arguments: { env: 'prod' } }, [
    { region: accept({ region: 'eu' }) },
    { go: accept({ confirm: true }) },
  ]),
  'tool, declined': asking('tools/call', { name: 'deploy', arguments: { env: 'prod' } }, [
    { region: { action: 'decline' } },
  ]),
  'tool, answered wrongly': asking('tools/call', { name: 'deploy', arguments: { env: 'prod' } }, [
    { region: accept({ region: 'mars' }) },
    { region: accept({ region: 'us' }) },
    { go: { action: 'cancel' } },
  ]),
  prompt: asking('prompts/get', { name: 'letter' }, [{ to: accept({ to: 'Ann' }) }]),
  resource: asking('resources/read', { uri: 'test://secret' }, [{ show: accept({ confirm: true }) }]),
};

function asking(method: string, params: Call['params'], answers: Asking['answers']): Asking {
  return { call: { method, params, pooled: true }, answers };
}

/** The state that a response asks to be sent back. */
export function stateIn({ body }: RawResponse): unknown {
  return (body as { readonly result?: { readonly requestState?: unknown } }).result?.requestState;
}

/**
 * Plays all rounds, each with the state that the round before gave.
 *
 * @param of gives the server that takes a round, from 0.
 * @param fault is done to each request after the first.
 */
export async function playRounds(
  { call, answers }: Asking,
  of: (round: number) => Loopback,
  fault: Fault = () => {},
): Promise<RawResponse[]> {
  const responses = [await of(0).send(finish(draft(call)))];
  for (const [at, inputResponses] of answers.entries()) {
    const last = responses[at];
    const requestState = last && stateIn(last);
    const params = { ...call.params, inputResponses, ...(requestState !== undefined && { requestState }) };
    const made = draft({ ...call, params });
    fault(made);
    responses.push(await of(at + 1).send(finish(made)));
  }
  return responses;
}
