import type { Outcome } from './outcome.js';
import type { Caller, JsonObject, Wire, WireReply, WireRequest } from './wire/message.js';

export const SEVERITIES = ['note', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What an attack says about the target. */
export type Verdict = 'safe' | 'weak' | 'broken' | 'unclear' | 'not-applicable';

/** A question of the server. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
}

/** The end of a round in which the server asked. */
export interface Pause {
  /** From 1 on. */
  readonly round: number;
  readonly caller: Caller;
  /** What was sent in this round. */
  readonly request: WireRequest;
  readonly reply: WireReply;
  readonly state: string | undefined;
  readonly questions: Readonly<Record<string, Question>>;
  /** Answers that a good client gives to them. */
  readonly answers: Readonly<Record<string, JsonObject>>;
}

/** A whole flow, driven as a good client does. */
export interface HonestRun {
  readonly pauses: readonly Pause[];
  /** The last request and what it gave. */
  readonly last: { readonly request: WireRequest; readonly reply: WireReply; readonly outcome: Outcome };
}

/** What of a retry differs from the honest one. `undefined` for `state` or `answers` leaves them out. */
export interface Changes {
  readonly state?: unknown;
  readonly withoutState?: true;
  readonly answers?: unknown;
  readonly withoutAnswers?: true;
  readonly arguments?: JsonObject;
  readonly name?: string;
  readonly method?: string;
  readonly caller?: Caller;
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Replaces members of `_meta`; null leaves one out. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A request and what came of it. */
export interface Exchange {
  readonly request: WireRequest;
  readonly reply: WireReply;
  readonly outcome: Outcome;
}

/** What attacks work with. */
export interface AuditContext {
  readonly wire: Wire;
  readonly honest: HonestRun;
  readonly tool: { readonly name: string; readonly arguments: JsonObject; readonly inputSchema?: JsonObject };
  /** Other tools and prompts that the target lists. */
  readonly otherTools: readonly { readonly name: string; readonly inputSchema?: JsonObject }[];
  readonly prompts: readonly string[];
  /** Callers there are: `main` always. */
  readonly callers: ReadonlySet<Caller>;
  /** How long the user lets an attack wait for expiry, in ms. */
  readonly waitMs: number | undefined;
  /** Begins a new flow, and drives it honestly up to the end of a round. Undefined if it did not get there. */
  walkTo(round: number, caller?: Caller): Promise<Pause | undefined>;
  /** The honest retry of a pause. */
  retryOf(pause: Pause, changes?: Changes): WireRequest;
  /** Sends. */
  send(request: WireRequest): Promise<Exchange>;
  /** Sends the retry of a pause with changes. */
  retry(pause: Pause, changes?: Changes): Promise<Exchange>;
  /** Which header of a caller has a value that stands in a text: its name only. */
  revealsSecretOf(text: string): string | undefined;
  /** How often the effect has happened, by the user's probe; undefined without one. */
  effects(): Promise<number | undefined>;
}

/** What an attack found, in one round or in all. */
export interface Finding {
  readonly verdict: Verdict;
  /** Of `weak` and `broken`. */
  readonly severity?: Severity;
  readonly round?: number;
  /** What came back, or why it is not applicable, in one sentence. No states, no answers. */
  readonly found: string;
  /** The request that shows it, and what came back, for who wants to see it again. */
  readonly evidence?: Exchange;
}

/** One attack; a file of its own in `attacks/`, and a page in docs/audit/. */
export interface Attack {
  /** The name of its file and of its page. */
  readonly id: string;
  readonly title: string;
  /** Where the protocol asks for it, as a reader finds it: page and requirement. */
  readonly rule: string;
  /** Of `broken`. */
  readonly severity: Severity;
  /** What is sent, in one sentence. */
  readonly sends: string;
  /** What a safe server does, in one sentence. */
  readonly safe: string;
  /** How to mend it, in one sentence. */
  readonly fix: string;
  /** It counts effects, or may leave the target in pieces: no other attack may run at the same time. */
  readonly alone?: true;
  run(context: AuditContext): Promise<readonly Finding[]>;
}
