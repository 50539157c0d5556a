import { ParleyError, SavedFlowInvalid } from '../errors.js';
import { isObject, own, type JsonObject } from './json.js';
import { identityFault, normalIdentity, type ServerIdentity } from './identity.js';
import { QUESTION_KINDS, readQuestion, type Question } from './question.js';
import { requestFault, type DrivenRequest } from './request.js';

/**
 * A call between two of its rounds, as plain JSON: any storage holds it, and any process that is connected to the
 * same server as the same principal goes on with it. It holds `requestState`, which may be worth stealing: keep it
 * as you keep a session cookie.
 */
export interface SavedFlow {
  readonly format: 'parley-flow';
  /** Version of this format. A build reads the versions that it knows, and refuses all others. */
  readonly version: 1;
  /** Whom it belongs to; others are refused. */
  readonly server: ServerIdentity;
  readonly request: DrivenRequest;
  /** Requests that were sent and answered so far. */
  readonly round: number;
  /** How many of them asked nothing and only said to come again. */
  readonly waits: number;
  /** The state of the latest round, character by character. Absent when that round gave none; `""` is a state. */
  readonly requestState?: string;
  /** What the latest round asked. None when the server only wants to be called again. */
  readonly questions: readonly Question[];
  /** The latest questions, and how many times in a row they were asked. */
  readonly repeats: { readonly digest: string; readonly times: number };
  /** When it began, and when the latest round was answered, in ms since 1970. */
  readonly beganAt: number;
  readonly askedAt: number;
  /** When a retry was sent whose answer is not known. Such a flow goes on only with `resend: true`. */
  readonly sentAt?: number;
}

/** The only version there is. */
export const FLOW_VERSION = 1;

const MEMBERS: ReadonlySet<string> = new Set([
  'format',
  'version',
  'server',
  'request',
  'round',
  'waits',
  'requestState',
  'questions',
  'repeats',
  'beganAt',
  'askedAt',
  'sentAt',
]);

/**
 * Reads a saved flow, from its JSON text or as it was parsed. Everything is checked: whoever could write to the
 * storage could have changed it.
 *
 * @throws SavedFlowInvalid naming the member that is wrong, never its value.
 */
export function loadFlow(saved: unknown): SavedFlow {
  const flow = typeof saved === 'string' ? parse(saved) : saved;
  if (!isObject(flow) || own(flow, 'format') !== 'parley-flow')
    return invalid('format', `is not 'parley-flow'`);
  if (own(flow, 'version') !== FLOW_VERSION) return invalid('version', `is not ${FLOW_VERSION}`);
  if (Object.keys(flow).some((name) => !MEMBERS.has(name))) invalid('it', 'has a member that no flow has');
  const server = own(flow, 'server');
  const serverFault = identityFault(server);
  if (serverFault !== undefined) invalid('server', serverFault);
  const request = own(flow, 'request');
  const fault = requestFault(request);
  if (fault !== undefined) invalid('request', fault);
  const state = own(flow, 'requestState');
  if (state !== undefined && typeof state !== 'string') invalid('requestState', 'is not a text');
  const questions = own(flow, 'questions');
  if (!Array.isArray(questions)) return invalid('questions', 'is not a list');
  if (questions.length === 0 && state === undefined) invalid('questions', 'is empty, and there is no state');
  const read = (questions as readonly unknown[]).map(readSaved);
  if (new Set(read.map(({ key }) => key)).size !== read.length) invalid('questions', 'has a key twice');
  const repeats = own(flow, 'repeats');
  const digest = isObject(repeats) ? own(repeats, 'digest') : undefined;
  if (!isObject(repeats) || typeof digest !== 'string') return invalid('repeats.digest', 'is not a text');
  const sentAt = own(flow, 'sentAt');
  const round = count(flow, 'round', 1);
  const waits = count(flow, 'waits', 0);
  if (waits > round) invalid('waits', 'is more than round');
  return {
    format: 'parley-flow',
    version: FLOW_VERSION,
    server: normalIdentity(server as ServerIdentity),
    request: request as DrivenRequest,
    round,
    waits,
    ...(typeof state === 'string' && { requestState: state }),
    questions: read,
    repeats: { digest, times: count(repeats, 'times', 0, 'repeats.') },
    beganAt: count(flow, 'beganAt', 0),
    askedAt: count(flow, 'askedAt', 0),
    ...(sentAt !== undefined && { sentAt: count(flow, 'sentAt', 0) }),
  };
}

/** The saved flow that an error of this entry carries, if it carries one. */
export function flowOf(error: unknown): SavedFlow | undefined {
  if (!(error instanceof ParleyError) || !('flow' in error)) return undefined;
  return error.flow as SavedFlow | undefined;
}

function invalid(path: string, reason: string): never {
  throw new SavedFlowInvalid(path, reason);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, whose message quotes the text.
    return invalid('it', 'is not JSON');
  }
}

function count(object: JsonObject, name: string, least: number, prefix = ''): number {
  const value = own(object, name);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  return invalid(`${prefix}${name}`, `is not a whole number from ${least}`);
}

/** A saved question is read as if the server had just sent it, so that the same rules hold for it. */
function readSaved(source: unknown, index: number): Question {
  const path = `questions[${index}]`;
  const key = isObject(source) ? own(source, 'key') : undefined;
  const kind = isObject(source) ? QUESTION_KINDS.find((name) => name === own(source, 'kind')) : undefined;
  if (!isObject(source) || typeof key !== 'string' || kind === undefined) {
    return invalid(path, 'has no key or no kind');
  }
  try {
    return readQuestion(key, asSent(kind, source));
  } catch (error) {
    return invalid(path, error instanceof ParleyError ? `is refused (${error.code})` : 'cannot be read');
  }
}

function asSent(kind: Question['kind'], source: JsonObject): JsonObject {
  switch (kind) {
    case 'form':
    case 'url': {
      const params = {
        mode: kind,
        message: own(source, 'message'),
        ...(kind === 'form' ? { requestedSchema: own(source, 'schema') } : { url: own(source, 'url') }),
      };
      return { method: 'elicitation/create', params };
    }
    case 'sampling':
      return { method: 'sampling/createMessage', params: own(source, 'params') };
    case 'roots':
      return { method: 'roots/list' };
  }
}
