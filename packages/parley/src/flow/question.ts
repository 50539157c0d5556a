import { InvalidQuestion } from '../errors.js';
import type { RestrictedSchema } from '../form/index.js';
import type { Json } from './json.js';
import type { CreateMessageParams } from './sampling.js';

/** What the client is asked for: the three request kinds of the specification, elicitation in its two modes. */
export type QuestionKind = 'form' | 'url' | 'sampling' | 'roots';

/** A question as it goes out: a bare `{ method, params }`, no JSON-RPC envelope (basic/patterns/mrtr, "InputRequests"). */
export interface Question {
  readonly kind: QuestionKind;
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: { readonly [member: string]: Json };
}

/** A form question. */
export function formQuestion(key: string, message: string, schema: RestrictedSchema): Question {
  requireMessage(key, message);
  const requestedSchema = schema as unknown as Json;
  return { kind: 'form', method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/**
 * A question that sends the user to a page.
 *
 * @throws InvalidQuestion when the URL is not absolute, not https (http is allowed on loopback only), or
 * carries user info (client/elicitation, "Safe URL Handling").
 */
export function urlQuestion(key: string, message: string, url: string): Question {
  requireMessage(key, message);
  // It goes out as it is written, so nothing may stand in it that another parser could read in another way.
  if (!/^https?:\/\/[^\s\\/][^\s\\]*$/i.test(url) || !URL.canParse(url)) {
    throw new InvalidQuestion(
      key,
      'its url must be an absolute https URL without white space or backslashes',
    );
  }
  const parsed = new URL(url);
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && loopback)) {
    throw new InvalidQuestion(key, 'its url must be https (http only on loopback)');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new InvalidQuestion(key, 'its url carries a user name or password');
  }
  return { kind: 'url', method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/** A request that the client's model complete a conversation. */
export function samplingQuestion(key: string, params: CreateMessageParams): Question {
  if (!Array.isArray(params.messages) || params.messages.length === 0) {
    throw new InvalidQuestion(key, 'messages must hold at least one message');
  }
  if (!Number.isInteger(params.maxTokens) || params.maxTokens < 1) {
    throw new InvalidQuestion(key, 'maxTokens must be a positive whole number');
  }
  return {
    kind: 'sampling',
    method: 'sampling/createMessage',
    params: params as unknown as Question['params'],
  };
}

/** A request for the client's roots. */
export function rootsQuestion(): Question {
  return { kind: 'roots', method: 'roots/list', params: {} };
}

/** The text whose digest an answer is pinned to: all that the user sees, in the order in which it is shown. */
export function questionText({ kind, method, params }: Question): string {
  if (kind !== 'form') return JSON.stringify([method, params]);
  // Digested for every answer in every round, and most of it is a schema that never changes.
  const schema = schemaText(params['requestedSchema'] as unknown as RestrictedSchema);
  return `["${method}",${JSON.stringify(params['message'])},${schema}]`;
}

const schemaTexts = new WeakMap<RestrictedSchema, string>();

function schemaText(schema: RestrictedSchema): string {
  const known = schemaTexts.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  schemaTexts.set(schema, text);
  return text;
}

/** The same question, with the reason why the last answer could not be used. */
export function withReason(question: Question, reason: string): Question {
  const message = question.params['message'];
  if (typeof message !== 'string') return question;
  const told = `${message}\n\nThe last answer could not be used: ${reason}`;
  return { ...question, params: { ...question.params, message: told } };
}

function requireMessage(key: string, message: unknown): void {
  if (typeof message !== 'string' || message.trim() === '') {
    throw new InvalidQuestion(key, 'message must be a text that a person can read');
  }
}
