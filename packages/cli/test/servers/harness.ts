import { isFields, type Fields } from './harness/forms.js';
import { listen, type AuditedServer } from './harness/listen.js';
import {
  correctParts,
  failed,
  nameOf,
  type Incoming,
  type Parts,
  type Reply,
  type World,
} from './harness/parts.js';
import type { FlowState } from './harness/state.js';

export type { AuditedServer } from './harness/listen.js';

const ARGUMENTS = {
  type: 'object',
  properties: {
    account: { type: 'string', enum: ['current', 'savings'] },
    note: { type: 'string', maxLength: 40 },
  },
  required: ['account'],
  additionalProperties: false,
};

const LISTED = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/**
 * Starts a server whose tools `transfer` and `refund`, and prompt `transfer`, ask three times and then have an effect
 * that tool `count` counts. The protocol is written by hand, and right; `faults` replaces parts of it.
 * Bearer tokens are users' names.
 */
export function startServer(faults: Partial<Parts> = {}): Promise<AuditedServer> {
  const parts = { ...correctParts(), ...faults };
  const world: World = { effects: 0, spent: new Set() };
  return listen(parts.limits.body, world, (request) => parts.finish(replyTo(request, parts, world), request));
}

function replyTo(request: Incoming, parts: Parts, world: World): Reply {
  const { method, params } = request;
  const isWrong = parts.checkMeta(request) ?? parts.checkHeaders(request);
  if (isWrong) return isWrong;
  switch (method) {
    case 'server/discover':
      return {
        result: { ...LISTED, supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {} } },
      };
    case 'tools/list':
      return {
        result: {
          ...LISTED,
          tools: [
            { name: 'transfer', inputSchema: ARGUMENTS },
            { name: 'refund', inputSchema: ARGUMENTS },
            { name: 'count', inputSchema: { type: 'object' } },
          ],
        },
      };
    case 'prompts/list':
      return {
        result: {
          ...LISTED,
          prompts: [{ name: 'transfer', arguments: [{ name: 'account', required: true }] }],
        },
      };
    case 'tools/call':
      if (nameOf(request) === 'count') return { result: textResult(String(world.effects)) };
      if (!['transfer', 'refund'].includes(nameOf(request))) return failed(-32_602, 'No such tool.');
      return flow(request, parts, world);
    case 'prompts/get':
      return params['name'] === 'transfer' ? flow(request, parts, world) : failed(-32_602, 'No such prompt.');
    default:
      return failed(-32_601, 'No such method.', 404);
  }
}

function flow(request: Incoming, parts: Parts, world: World): Reply {
  const { params } = request;
  const args = isFields(params['arguments']) ? params['arguments'] : {};
  const here = parts.claims(request, parts.identify(request));
  const expires = Date.now() + parts.expiresIn;
  const beginning: FlowState = { flow: parts.flowId(request), round: 1, ...here, expires, settled: {} };
  const afresh = () => ask(beginning, request, parts);
  const refuse = (why: Parameters<Parts['onBadState']>[0]) => parts.onBadState(why, afresh, request);

  let state: FlowState | undefined;
  if (Object.hasOwn(params, 'requestState')) {
    const text = parts.stateText(params['requestState']);
    if (text === undefined) return refuse('kind');
    if (text.length > parts.limits.state) return refuse('size');
    state = parts.codec.decode(text);
    if (!state) return refuse('unknown');
    if (!parts.bind(state, here, request)) return refuse('binding');
    if (!(state.expires > Date.now())) return refuse('expired');
    if (parts.singleUse && world.spent.has(state.flow)) return refuse('used');
  } else state = parts.withoutState(request, beginning);

  if (!parts.checkArguments(args, state))
    return failed(-32_602, 'The arguments are not as the schema wants them.');
  if (!state) return afresh();
  return next(state, request, parts, world);
}

function next(state: FlowState, request: Incoming, parts: Parts, world: World): Reply {
  const { params } = request;
  const answers = Object.hasOwn(params, 'inputResponses')
    ? parts.answersOf(params['inputResponses'], world)
    : {};
  if (!answers) return failed(-32_602, 'inputResponses is no object.');
  const [key, question] = parts.questions[state.round - 1] ?? [];
  if (key === undefined || !question) return failed(-32_602, 'Invalid or expired requestState');
  const asked = parts.ask(question, state, request);
  const answered = parts.readAnswer(asked, parts.lookUp(answers, key), answers);
  if (answered.kind === 'refused') return failed(-32_602, 'An answer is missing or wrong.');
  if (answered.kind === 'again') return ask(state, request, parts);
  if (answered.kind === 'ended') return { result: { ...textResult('Nothing was paid.'), isError: true } };
  const settled = { ...state.settled, [key]: answered.content };
  const after = parts.advance({ ...state, settled, expires: Date.now() + parts.expiresIn }, answers);
  if (after.round <= parts.questions.length) return ask(after, request, parts);
  if (settled['confirm'] && isFields(settled['confirm']) && settled['confirm']['confirmed'] === false)
    return { result: textResult('Nothing was paid.') };
  world.spent.add(state.flow);
  world.effects += 1;
  return { result: request.method === 'prompts/get' ? promptResult('Paid.') : textResult('Paid.') };
}

function ask(state: FlowState, request: Incoming, parts: Parts): Reply {
  const [key, question] = parts.questions[state.round - 1] ?? [];
  if (key === undefined || !question) return failed(-32_603, 'There is no such round.');
  const asked = parts.ask(question, state, request);
  return (
    parts.checkCapabilities(asked, request) ?? {
      result: {
        resultType: 'input_required',
        inputRequests: { [key]: asked },
        requestState: parts.codec.encode(state),
      },
    }
  );
}

export const textResult = (text: string): Fields => ({
  resultType: 'complete',
  content: [{ type: 'text', text }],
});

const promptResult = (text: string): Fields => ({
  resultType: 'complete',
  messages: [{ role: 'user', content: { type: 'text', text } }],
});
