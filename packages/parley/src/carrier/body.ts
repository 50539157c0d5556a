import { StateRejected } from '../errors.js';
import type { AskedQuestion } from '../flow/index.js';
import type { CarriedState } from './state.js';

/*
 * The text inside a token, after the claims' header: lines of JSON. The first says what there is, the others
 * are the journal, one entry a line. Entries are carried over as the texts that they are, so a round does
 * not write again what an earlier one wrote.
 */

interface Head {
  /** Handler version. */
  readonly v?: string | undefined;
  /** Questions that wait for an answer. */
  readonly q?: readonly AskedQuestion[] | undefined;
  /** Trace of the round. */
  readonly t?: string | undefined;
  /** Rounds so far that only waited. */
  readonly w?: number | undefined;
  /** Reference to the journal, where it is too large for a token and stands in the ledger. */
  readonly r?: string | undefined;
  /** Text of a handler that was written by hand. */
  readonly s?: string | undefined;
}

/** What a body holds beside the claims. */
export interface Body {
  readonly version?: string | undefined;
  readonly trace?: string | undefined;
  readonly waits: number;
  /** Reference to the journal in the ledger; the state's own is empty then. */
  readonly overflow?: string | undefined;
  readonly state: CarriedState;
}

/** Writes a body. */
export function writeBody({ version, trace, waits, overflow, state }: Body): string {
  // JSON leaves out what is undefined. Spreads under conditions would cost more than the rest of this function.
  const head: Head = {
    v: version,
    q: state.asked.length > 0 ? state.asked : undefined,
    t: trace,
    w: waits > 0 ? waits : undefined,
    r: overflow,
    s: state.kind === 'plain' ? state.text : undefined,
  };
  const first = JSON.stringify(head);
  return state.kind === 'plain' || state.journal.length === 0
    ? first
    : `${first}\n${state.journal.join('\n')}`;
}

/**
 * Reads a body.
 *
 * @throws StateRejected `claims` when it is not one: it is authentic, but of something else.
 */
export function readBody(kind: CarriedState['kind'], text: string): Body {
  const [first = '', ...journal] = text.split('\n');
  let head: Head;
  try {
    head = JSON.parse(first) as Head;
  } catch {
    throw new StateRejected('claims'); // without the cause, whose message quotes what it read
  }
  if (typeof head !== 'object' || head === null) throw new StateRejected('claims');
  const asked = head.q ?? [];
  if (kind === 'plain' && typeof head.s !== 'string') throw new StateRejected('claims');
  return {
    version: head.v,
    trace: head.t,
    waits: head.w ?? 0,
    overflow: head.r,
    state: kind === 'plain' ? { kind, asked, text: head.s ?? '' } : { kind, asked, journal },
  };
}
