import type { CreateMessageResult, InputResponse, Root } from '@modelcontextprotocol/client';
import { checkContent } from '../form/index.js';
import { quoteNames } from '../quote-name.js';
import { isObject, isTexts, jsonCopy, own } from './json.js';
import type { FormQuestion, Question, QuestionKind } from './question.js';
import { isRootUri } from './root-uri.js';

/** The person said no, to the question or to being asked. Both are told to the server (FORM-24). */
export interface Refusal {
  readonly action: 'decline' | 'cancel';
}

/** Answers by kind of question. */
export interface Answers {
  /** The content of a filled form; fields that were left blank are left out. */
  readonly form:
    { readonly action: 'accept'; readonly content: { readonly [field: string]: unknown } } | Refusal;
  /** `accept` is the person's consent to open the page, not word that they are done there (URL-02). */
  readonly url: { readonly action: 'accept' } | Refusal;
  /** What the model wrote. A refusal cannot be told to the server, so it ends the call (MRTR-C-13). */
  readonly sampling: { readonly action: 'accept'; readonly result: CreateMessageResult } | Refusal;
  /** The folders. A refusal cannot be told to the server, so it ends the call (MRTR-C-13). */
  readonly roots: { readonly action: 'accept'; readonly roots: readonly Root[] } | Refusal;
}

/** An answer to any question. */
export type Answer = Answers[QuestionKind];

/** An answer as it leaves, or why it does not leave. */
export type AnswerCheck =
  | { readonly type: 'fits'; readonly response: InputResponse }
  /** It does not fit: `reason` names fields, never values. */
  | { readonly type: 'faulty'; readonly reason: string }
  /** A refusal that the protocol has no word for. */
  | { readonly type: 'unsayable' };

/**
 * Checks an answer against its question (FORM-19), and gives what would be sent for it. Nothing is filled in:
 * defaults are for the form that a person sees ({@link prefill}).
 */
export function checkAnswer(question: Question, answer: unknown): AnswerCheck {
  if (!isObject(answer)) return faulty('it is not an answer.');
  const action = own(answer, 'action');
  if (action === 'decline' || action === 'cancel') {
    const isElicitation = question.kind === 'form' || question.kind === 'url';
    return isElicitation ? { type: 'fits', response: { action } } : { type: 'unsayable' };
  }
  if (action !== 'accept') return faulty(`its action is none of 'accept', 'decline' and 'cancel'.`);
  switch (question.kind) {
    case 'form':
      return checkForm(question, own(answer, 'content'));
    case 'url':
      return { type: 'fits', response: { action } };
    case 'sampling':
      return checkSampling(own(answer, 'result'));
    case 'roots':
      return checkRoots(own(answer, 'roots'));
  }
}

function faulty(reason: string): AnswerCheck {
  return { type: 'faulty', reason };
}

function checkForm({ schema }: FormQuestion, content: unknown): AnswerCheck {
  if (isObject(content)) {
    const extra = Object.keys(content).filter((name) => !Object.hasOwn(schema.properties, name));
    if (extra.length > 0) {
      return faulty(`it has fields that were not asked for: ${quoteNames(extra, "'")}.`);
    }
  }
  const check = checkContent(schema, content);
  if (!check.ok) return faulty(check.reason);
  const fields = Object.entries(check.content).map(([name, value]) => [
    name,
    isTexts(value) ? [...value] : value,
  ]);
  const copy = Object.fromEntries(fields) as Record<string, string | number | boolean | string[]>;
  return { type: 'fits', response: { action: 'accept', content: copy } };
}

function checkSampling(given: unknown): AnswerCheck {
  if (!isObject(given)) return faulty('it has no result.');
  const result = plain(given);
  if (!isObject(result)) return faulty('its result cannot be written as JSON.');
  const [role, model, content] = [own(result, 'role'), own(result, 'model'), own(result, 'content')];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  if (role !== 'assistant' && role !== 'user') return faulty('its result has no role.');
  if (typeof model !== 'string') return faulty('its result does not name the model.');
  const isBlock = (block: unknown): boolean => isObject(block) && typeof own(block, 'type') === 'string';
  if (blocks.length === 0 || !blocks.every(isBlock)) return faulty('its result has no content.');
  return { type: 'fits', response: result as CreateMessageResult };
}

function checkRoots(given: unknown): AnswerCheck {
  const isRoot = (root: unknown): root is Root => {
    const uri = isObject(root) ? own(root, 'uri') : undefined;
    return typeof uri === 'string' && isRootUri(uri);
  };
  const roots = plain(given);
  if (!Array.isArray(roots) || !roots.every(isRoot)) {
    return faulty(`its roots are not all file:/// URIs of absolute paths, without '.', '..' and controls.`);
  }
  return { type: 'fits', response: { roots } };
}

/** A value as it would travel; nothing where JSON cannot hold it, as with a circle or a BigInt. */
function plain(value: unknown): unknown {
  try {
    return jsonCopy(value);
  } catch {
    return undefined;
  }
}
