import type { Json, KeyedQuestion } from '../flow/index.js';

const WIRE = Symbol('wire');

/** An answer exactly as a client would send it; see {@link wire}, {@link decline} and {@link cancel}. */
export interface WireAnswer {
  readonly [WIRE]: unknown;
}

/**
 * How a rehearsal answers a question: an object is the content of an accepted form (or, for sampling and
 * roots, the result itself), a boolean answers a confirmation or agrees to a page, and the helpers say everything
 * else.
 */
export type RehearsedAnswer = WireAnswer | boolean | { readonly [field: string]: Json };

/** The person declines. */
export function decline(): WireAnswer {
  return wire({ action: 'decline' });
}

/** The person cancels. */
export function cancel(): WireAnswer {
  return wire({ action: 'cancel' });
}

/** Any answer at all, as it would come from the wire: for what a client should not send. */
export function wire(answer: unknown): WireAnswer {
  return { [WIRE]: answer };
}

/** The answer as a client would send it. */
export function asWireAnswer(answer: RehearsedAnswer, asked?: KeyedQuestion): unknown {
  if (answer === false && asked?.question.kind === 'url') return { action: 'decline' };
  if (typeof answer === 'boolean') return { action: 'accept', content: { confirm: answer } };
  if (isWire(answer)) return answer[WIRE];
  switch (asked?.question.kind) {
    case 'sampling':
    case 'roots':
      return answer;
    case 'url':
      return { action: 'accept' };
    case 'form':
    case undefined:
      return { action: 'accept', content: answer };
  }
}

function isWire(answer: object): answer is WireAnswer {
  return WIRE in answer;
}
