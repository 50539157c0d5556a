import type { Answer } from './journal.js';
import type { Json } from './json.js';
import type { QuestionKind } from './question.js';

/**
 * Answers as they came from the wire: any JSON at all. The type has nothing in common with {@link Answer}, so
 * that nothing unverified can be taken for verified.
 */
export type RawAnswers = unknown;

/**
 * The own member of an untrusted map, or undefined. Own, because the map may be an ordinary object: a key
 * such as `constructor` must not find what every object inherits.
 */
export function ownAnswer(answers: RawAnswers, key: string): unknown {
  if (typeof answers !== 'object' || answers === null || Array.isArray(answers)) return undefined;
  return Object.hasOwn(answers, key) ? (answers as Record<string, unknown>)[key] : undefined;
}

/**
 * Reads one answer as the kind that was asked for. The union on the wire has no tag, so the kind decides
 * (CORE-10); an answer of another kind, or of none, counts as absent.
 *
 * @param limit bytes of JSON that one answer may take; a larger one counts as absent too.
 */
export function readAnswer(kind: QuestionKind, raw: unknown, limit: number): Answer | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const text = textOf(raw);
  if (text === undefined || isLarger(text, limit)) return undefined;
  // The parsed copy: what a replay will read from the journal is what the handler gets now.
  const answer = JSON.parse(text) as Record<string, unknown>;
  switch (kind) {
    case 'form':
    case 'url':
      return readElicitation(kind, answer);
    case 'sampling':
      return readSampling(answer);
    case 'roots':
      return readRoots(answer);
  }
}

/** UTF-8 takes one to three bytes for a UTF-16 unit, so most texts need not be encoded to be judged. */
function isLarger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

function readElicitation(kind: 'form' | 'url', answer: Record<string, unknown>): Answer | undefined {
  switch (answer['action']) {
    case 'accept':
      // Consent to open a page carries no content (URL-02); what a form's content holds is checked with its schema.
      return kind === 'url' || answer['content'] === undefined
        ? { action: 'accept' }
        : { action: 'accept', content: answer['content'] as { readonly [property: string]: Json } };
    case 'decline':
      return { action: 'decline' };
    case 'cancel':
      return { action: 'cancel' };
    default:
      return undefined;
  }
}

function readSampling(answer: Record<string, unknown>): Answer | undefined {
  const { role, content, model, stopReason } = answer;
  if ((role !== 'user' && role !== 'assistant') || typeof model !== 'string') return undefined;
  if (!isBlock(content) && !(Array.isArray(content) && content.length > 0 && content.every(isBlock)))
    return undefined;
  const result: Record<string, Json> = { role, content: content as Json, model };
  if (typeof stopReason === 'string') result['stopReason'] = stopReason;
  return { result };
}

function isBlock(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Record<string, unknown>)['type'] === 'string'
  );
}

function readRoots(answer: Record<string, unknown>): Answer | undefined {
  const roots: unknown = answer['roots'];
  if (!Array.isArray(roots)) return undefined;
  const read: Json[] = [];
  for (const root of roots as unknown[]) {
    if (typeof root !== 'object' || root === null) return undefined;
    const { uri, name } = root as Record<string, unknown>;
    // Roots are file URIs (ROOT-04); one that is not makes the whole answer unusable.
    if (typeof uri !== 'string' || !uri.startsWith('file://')) return undefined;
    read.push(typeof name === 'string' ? { uri, name } : { uri });
  }
  return { result: { roots: read } };
}

/** Undefined when it nests deeper than the stack allows: parsers take what writers cannot write again. */
function textOf(raw: object): string | undefined {
  try {
    return JSON.stringify(raw);
  } catch {
    return undefined;
  }
}
