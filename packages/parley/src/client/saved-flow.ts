import { flowBeside, ParleyError, SavedFlowInvalid } from '../errors.js';
import { isObject, isTexts, jsonCopy, own, type JsonObject } from './json.js';
import { identityFault, normalIdentity, type ServerIdentity } from './identity.js';
import { QUESTION_KINDS, readQuestion, type Question } from './question.js';
import { requestFault, type DrivenMethod, type DrivenRequest } from './request.js';
import { POLL_MS, TASK_STATUSES, taskIdFault, type SavedTask } from './task.js';

/**
 * A call between two of its rounds, as plain JSON: any storage holds it, and any process that is connected to the
 * same server as the same principal goes on with it. It holds `requestState`, or the id of a task, which may be
 * worth stealing: keep it as you keep a session cookie. And keep it from being changed: the questions in it are what a
 * person is shown, and the answers go to the server.
 */
export interface SavedFlow<M extends DrivenMethod = DrivenMethod> {
  readonly format: 'parley-flow';
  /** Version of this format. A build reads the versions that it knows, and refuses all others. */
  readonly version: 1;
  /** One for each call, drawn at random, the same over all of its rounds. */
  readonly id: string;
  /** Grows with everything that happens to the call, from 1. Of two copies with one id, the greater is the later. */
  readonly revision: number;
  /** Whom it belongs to; others are refused. */
  readonly server: ServerIdentity;
  readonly request: DrivenRequest<M>;
  /**
   * Requests that were sent and answered so far; 0 while the first one is under way. Of a task, the looks that showed
   * something new to answer are counted in.
   */
  readonly round: number;
  /** How many of them asked nothing and only said to come again. */
  readonly waits: number;
  /** The state of the latest round, character by character. Absent when that round gave none; `""` is a state. */
  readonly requestState?: string;
  /** What the latest round asked, or what a task asks. None when there is nothing to do but to go on. */
  readonly questions: readonly Question[];
  /** The latest questions, and how many times in a row they were asked. */
  readonly repeats: { readonly digest: string; readonly times: number };
  /** When it began, and when the latest round was answered, in ms since 1970. */
  readonly beganAt: number;
  readonly askedAt: number;
  /** When a request was sent whose answer is not known. Such a flow goes on only with `resend: true`. */
  readonly sentAt?: number;
  /** The task that the call has become. There is no way back to rounds, so then there is no state (TASK-13). */
  readonly task?: SavedTask;
}

/** The only version there is. */
export const FLOW_VERSION = 1;

const MEMBERS: ReadonlySet<string> = new Set([
  'format',
  'version',
  'id',
  'revision',
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
  'task',
]);

const TASK_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'status',
  'statusMessage',
  'ttlMs',
  'pollIntervalMs',
  'seenAt',
  'answered',
]);

/** Longest id. Those of this library have 36 characters. */
const MAX_ID_LENGTH = 100;

/**
 * Reads a saved flow, from its JSON text or as it was parsed. Everything is checked: whoever could write to the
 * storage could have changed it.
 *
 * @param method what it must be a call of; then the result of resuming it has that type
 * @throws SavedFlowInvalid naming the member that is wrong, never its value.
 */
export function loadFlow<M extends DrivenMethod = DrivenMethod>(saved: unknown, method?: M): SavedFlow<M> {
  if (saved === undefined) return invalid('it', 'is missing');
  const flow = typeof saved === 'string' ? parse(saved) : saved;
  if (!isObject(flow) || own(flow, 'format') !== 'parley-flow')
    return invalid('format', `is not 'parley-flow'`);
  if (own(flow, 'version') !== FLOW_VERSION) return invalid('version', `is not ${FLOW_VERSION}`);
  if (Object.keys(flow).some((name) => !MEMBERS.has(name))) invalid('it', 'has a member that no flow has');
  const id = own(flow, 'id');
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) {
    return invalid('id', `is not a text of 1 to ${MAX_ID_LENGTH} characters`);
  }
  const server = own(flow, 'server');
  const serverFault = identityFault(server);
  if (serverFault !== undefined) invalid('server', serverFault);
  const request = readRequest<M>(own(flow, 'request'), method);
  const state = own(flow, 'requestState');
  if (state !== undefined && typeof state !== 'string') invalid('requestState', 'is not a text');
  const questions = own(flow, 'questions');
  if (!Array.isArray(questions)) return invalid('questions', 'is not a list');
  const task = own(flow, 'task') === undefined ? undefined : readTask(flow);
  const sentAt = own(flow, 'sentAt');
  // Before the first answer there is nothing but the request, and that it was sent.
  const isBeginning = own(flow, 'round') === 0 && sentAt !== undefined;
  if ((questions.length === 0 && state === undefined && task === undefined) !== isBeginning) {
    invalid(
      'questions',
      isBeginning ? 'is not empty before the first round' : 'is empty, and there is no state',
    );
  }
  const read = (questions as readonly unknown[]).map(readSaved);
  if (read.some(({ key }) => task?.answered.includes(key)))
    invalid('questions', 'has a key that was answered');
  if (new Set(read.map(({ key }) => key)).size !== read.length) invalid('questions', 'has a key twice');
  const repeats = own(flow, 'repeats');
  const digest = isObject(repeats) ? own(repeats, 'digest') : undefined;
  if (!isObject(repeats) || typeof digest !== 'string') return invalid('repeats.digest', 'is not a text');
  const round = count(flow, 'round', isBeginning ? 0 : 1);
  const waits = count(flow, 'waits', 0);
  if (waits > round) invalid('waits', 'is more than round');
  return {
    format: 'parley-flow',
    version: FLOW_VERSION,
    id,
    revision: count(flow, 'revision', 1),
    server: normalIdentity(server as ServerIdentity),
    request,
    round,
    waits,
    ...(typeof state === 'string' && { requestState: state }),
    questions: read,
    repeats: { digest, times: count(repeats, 'times', 0, 'repeats.') },
    beganAt: count(flow, 'beganAt', 0),
    askedAt: count(flow, 'askedAt', 0),
    ...(sentAt !== undefined && { sentAt: count(flow, 'sentAt', 0) }),
    ...(task !== undefined && { task }),
  };
}

/**
 * The saved flow that goes with an error of this entry: where the call stands, and what can be gone on with. There is
 * none when the server answered a round with an error, or the call had not begun.
 */
export function flowOf(error: unknown): SavedFlow | undefined {
  return flowBeside(error) as SavedFlow | undefined;
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

/** A copy, so that nobody changes under way what each round sends. */
function readRequest<M extends DrivenMethod>(request: unknown, method: M | undefined): DrivenRequest<M> {
  const fault = requestFault(request);
  if (fault !== undefined) invalid('request', fault);
  const known = request as DrivenRequest<M>;
  if (method !== undefined && known.method !== method) invalid('request.method', `is not ${method}`);
  try {
    return jsonCopy(known);
  } catch {
    return invalid('request', 'cannot be written as JSON');
  }
}

function readTask(flow: JsonObject): SavedTask {
  const task = own(flow, 'task');
  if (!isObject(task)) return invalid('task', 'is not an object');
  if (Object.keys(task).some((name) => !TASK_MEMBERS.has(name))) {
    invalid('task', 'has a member that no task has');
  }
  if (isObject(flow['request']) && own(flow['request'], 'method') !== 'tools/call') {
    invalid('task', 'is of a request that cannot become one');
  }
  for (const name of ['requestState', 'sentAt']) {
    if (own(flow, name) !== undefined) invalid(name, 'stands beside a task');
  }
  const fault = taskIdFault(own(task, 'id'));
  if (fault !== undefined) invalid('task.id', fault);
  const status = TASK_STATUSES.find((name) => name === own(task, 'status'));
  if (status === undefined) return invalid('task.status', 'is none that a task has');
  const [statusMessage, answered] = [own(task, 'statusMessage'), own(task, 'answered')];
  if (statusMessage !== undefined && typeof statusMessage !== 'string') {
    return invalid('task.statusMessage', 'is not a text');
  }
  if (!isTexts(answered) || new Set(answered).size !== answered.length) {
    return invalid('task.answered', 'is not a list of keys');
  }
  return {
    id: own(task, 'id') as string,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    ttlMs: own(task, 'ttlMs') === null ? null : count(task, 'ttlMs', 0, 'task.'),
    ...(own(task, 'pollIntervalMs') !== undefined && {
      // More would be an hour that nobody meant, or a timer that fires at once.
      pollIntervalMs: Math.min(count(task, 'pollIntervalMs', POLL_MS.least, 'task.'), POLL_MS.most),
    }),
    seenAt: count(task, 'seenAt', 0, 'task.'),
    answered: [...answered],
  };
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
