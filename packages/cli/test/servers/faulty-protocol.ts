import type { Fault } from './faulty-answers.js';
import { isFields } from './harness/forms.js';
import { correctParts, failed, type BadState, type Incoming } from './harness/parts.js';

const { checkCapabilities, checkHeaders, checkMeta } = correctParts();
const isRetry = ({ params }: Incoming): boolean => Object.hasOwn(params, 'requestState');

const REASONS: Readonly<Record<BadState, string>> = {
  kind: 'requestState is no string',
  size: 'requestState is too long',
  unknown: 'the signature is wrong',
  binding: 'this is the state of another tool or user',
  expired: 'the state has expired',
  used: 'the state was used',
};

/** Servers that are wrong about the protocol around the flow; by name. */
export const FAULTY_PROTOCOL = {
  'no-capability-check': () => ({ checkCapabilities: () => undefined }),

  /** Remembers that the first request declared something. */
  'capabilities-once': () => ({
    checkCapabilities: (asked, request) => (isRetry(request) ? undefined : checkCapabilities(asked, request)),
  }),

  'capability-error-as-200': () => ({
    checkCapabilities: (asked, request) => {
      const missing = checkCapabilities(asked, request);
      return missing && { ...missing, status: 200 };
    },
  }),

  /** Asks for a login where lists are asked for. */
  'asks-in-lists': () => ({
    finish: (reply, { method, params }) =>
      method === 'prompts/list' && Object.hasOwn(params, 'inputResponses')
        ? { result: { resultType: 'input_required', requestState: 'list' } }
        : reply,
  }),

  /** Asks as of old, by a request on the stream. */
  'sends-requests': () => ({
    finish: (reply) =>
      reply.result?.['resultType'] === 'input_required'
        ? { ...reply, before: [{ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} }] }
        : reply,
  }),

  'headers-once': () => ({
    checkHeaders: (request) => (isRetry(request) ? undefined : checkHeaders(request)),
  }),

  'meta-once': () => ({
    checkMeta: (request) => (isRetry(request) ? undefined : checkMeta(request)),
    checkHeaders: (request) => {
      const meta = request.params['_meta'];
      return isFields(meta) && meta['io.modelcontextprotocol/protocolVersion'] === '2026-07-28'
        ? checkHeaders(request)
        : undefined;
    },
    checkCapabilities: (asked, request) =>
      isComplete(request) ? checkCapabilities(asked, request) : undefined,
  }),

  'telling-refusals': () => ({ onBadState: (why) => failed(-32_602, REASONS[why]) }),

  /** Has one text for all, and another code where the user is another. */
  'codes-tell': () => ({
    onBadState: (why) => failed(why === 'binding' ? -32_600 : -32_602, 'Invalid requestState'),
  }),

  /** Is gone after the first state that it cannot hold. */
  'falls-over': () => {
    let isGone = false;
    return {
      limits: { state: Infinity, body: 16_777_216 },
      finish: (reply, { params }) => {
        const { requestState } = params;
        isGone ||= typeof requestState === 'string' && requestState.length > 500_000;
        return isGone ? { isDropped: true } : reply;
      },
    };
  },

  /** Walks through what came, as deep as it is. */
  'walks-deep': () => ({
    answersOf: (sent) => {
      depthOf(sent);
      return isFields(sent) ? { ...sent } : undefined;
    },
  }),
} satisfies Readonly<Record<string, Fault>>;

function isComplete(request: Incoming): boolean {
  return checkMeta(request) === undefined;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member)));
}
