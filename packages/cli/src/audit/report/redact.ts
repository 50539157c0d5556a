import { createHash } from 'node:crypto';
import type { Exchange, Finding } from '../attack.js';
import type { Json, JsonObject, WireRequest } from '../wire/message.js';
import type { AuditReport, ReportOptions } from './report.js';

/** Shorter texts are not looked for in what is shown: they would be found everywhere. */
const SHORTEST_HIDDEN = 4;
/** What the auditor answers where a text is asked and none was given: it is nobody's, and stands in its own name. */
const OWN_WORD = 'audit';
/** Of a text of the server, in characters. */
const LONGEST_TEXT = 400;
/** Of what a finding says, in characters. */
const LONGEST_FOUND = 1000;
/** A state that is no longer than this is not shown by its beginning: that would be most of it. */
const SHORTEST_BEGUN = 24;
const BEGINNING = 8;
/** Levels and members of what came back that are shown. */
const DEEPEST = 12;
const MOST_MEMBERS = 60;

/** A request and its reply, as they may be shown. */
export interface ShownExchange {
  readonly caller: string;
  readonly method: string;
  readonly params: Json;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly status?: number;
  /** `result`, `error` or `failure`, as the reply had it. */
  readonly reply: Json;
  /** The line that sends it again, with placeholders. */
  readonly reproduce?: string;
}

/**
 * Turns an exchange into what may be shown: a state by its beginning, length and digest, answers by their keys. Whatever
 * of them stands in another place, as in the server's texts, is left out there as well. With `showValues` it is whole.
 * Nothing is made harmless here: whoever prints it does that, each for its medium.
 */
export function redact(exchange: Exchange, options: ReportOptions = {}): ShownExchange {
  const { request, reply } = exchange;
  const shown = new Redaction(exchange, options);
  const failure = reply.failure === undefined ? undefined : shown.text(reply.failure);
  return {
    caller: request.caller,
    method: request.method,
    params: shown.json(request.params),
    ...(request.headers !== undefined && { headers: shown.headers(request.headers) }),
    ...(reply.status !== undefined && { status: reply.status }),
    reply: {
      ...(reply.result !== undefined && { result: shown.json(reply.result) }),
      ...(reply.error !== undefined && { error: shown.json({ ...reply.error }) }),
      ...(failure !== undefined && { failure }),
      ...(reply.serverRequests.length > 0 && {
        serverRequests: reply.serverRequests.map((each) => shown.text(each)),
      }),
    },
    ...(options.print !== undefined && { reproduce: options.print(shown.toSend(request)) }),
  };
}

/** `"abcdefgh… (412 characters, sha256 1f2e3d4c)"`. */
export function stateText(state: string): string {
  const digest = createHash('sha256').update(state).digest('hex').slice(0, 8);
  const begin = state.length < SHORTEST_BEGUN ? '' : state.slice(0, BEGINNING);
  return `${begin}… (${state.length} characters, sha256 ${digest})`;
}

function answersText(answers: Json): string {
  if (typeof answers !== 'object' || answers === null || Array.isArray(answers)) {
    return `(no answers, but ${kindOf(answers)})`;
  }
  const keys = Object.keys(answers);
  return keys.length === 0
    ? '(no answers)'
    : `(answers to ${keys.slice(0, MOST_MEMBERS).join(', ').slice(0, LONGEST_TEXT)})`;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** A text in which others do not stand. */
export function without(text: string, hidden: readonly string[]): string {
  return [...new Set(hidden)]
    .filter((each) => each.length >= SHORTEST_HIDDEN && each !== OWN_WORD)
    .toSorted((a, b) => b.length - a.length) // so that a part of one does not hide it by half
    .reduce((shown, each) => shown.replaceAll(each, '(hidden)'), text);
}

/** The report with findings whose words hold nothing of what is hidden: the server's names stand in some. */
export function withoutHidden(report: AuditReport, { hide = [] }: ReportOptions): AuditReport {
  const worded = (finding: Finding): Finding => {
    const found = without(finding.found, hide);
    const isLong = found.length > LONGEST_FOUND;
    return { ...finding, found: isLong ? `${found.slice(0, LONGEST_FOUND)}…` : found };
  };
  return {
    ...report,
    results: report.results.map((result) => ({ ...result, findings: result.findings.map(worded) })),
  };
}

/** What is left out of one exchange. */
class Redaction {
  readonly #full: boolean;
  readonly #hidden: readonly string[];

  constructor({ request, reply }: Exchange, { showValues = false, hide = [] }: ReportOptions) {
    this.#full = showValues;
    const own = [
      // An attack may send it inside of something else.
      ...leaves(request.params['requestState']),
      ...leaves(reply.result?.['requestState']),
      ...leaves(request.params['inputResponses']),
    ];
    this.#hidden = [...hide, ...(showValues ? [] : own)];
  }

  /** A text without what is hidden, cut when it is long. */
  text(text: string): string {
    const shown = without(text, this.#hidden);
    if (this.#full || shown.length <= LONGEST_TEXT) return shown;
    return `${shown.slice(0, LONGEST_TEXT)}… (${text.length} characters)`;
  }

  headers(headers: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === null ? null : this.text(value)]),
    );
  }

  json(value: Json, depth = 0): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEEPEST && !this.#full) return '…';
    if (Array.isArray(value)) {
      const items = (value as readonly Json[]).slice(0, this.#full ? undefined : MOST_MEMBERS);
      const shown = items.map((item) => this.json(item, depth + 1));
      return items.length < value.length ? [...shown, `… (${value.length} items)`] : shown;
    }
    return this.#object(value as JsonObject, depth);
  }

  #object(value: JsonObject, depth: number): JsonObject {
    const all = Object.entries(value);
    const some = all.slice(0, this.#full ? undefined : MOST_MEMBERS);
    const shown = some.map(([name, member]): [string, Json] => [
      this.text(name),
      this.#member(name, member, depth),
    ]);
    if (some.length < all.length) shown.push(['…', `(${all.length} members)`]);
    // Object.fromEntries defines: a member `__proto__` stays one.
    return Object.fromEntries(shown);
  }

  #member(name: string, value: Json, depth: number): Json {
    if (this.#full) return this.json(value, depth + 1);
    if (name === 'requestState' && typeof value === 'string') return stateText(value);
    if (name === 'inputResponses') return answersText(value);
    return this.json(value, depth + 1);
  }

  /** The request with placeholders, for the line that sends it again. */
  toSend(request: WireRequest): WireRequest {
    const { headers, params } = request;
    const { requestState, inputResponses } = params;
    return {
      ...request,
      params: this.#full
        ? (this.json(params) as JsonObject)
        : {
            ...(this.json(params) as JsonObject),
            ...(typeof requestState === 'string' && { requestState: '$STATE' }),
            ...(inputResponses !== undefined && { inputResponses: '$ANSWERS' }),
          },
      ...(headers !== undefined && { headers: this.headers(headers) }),
    };
  }
}

/** Texts and numbers in it, as somebody would quote them. */
function leaves(value: Json | undefined, depth = 0): string[] {
  if (typeof value === 'string')
    return value === 'accept' || value === 'decline' || value === 'cancel' ? [] : [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  return Object.values(value)
    .slice(0, MOST_MEMBERS)
    .flatMap((each: Json) => leaves(each, depth + 1));
}
