import type { IncomingHttpHeaders } from 'node:http';
import { readAnswer, TRANSFER, type Answered, type Asked, type Fields } from './forms.js';
import { digestOf, sealedCodec, type Codec, type FlowState } from './state.js';

/** A request as it came. */
export interface Incoming {
  readonly id: unknown;
  readonly method: string;
  readonly params: Fields;
  readonly headers: IncomingHttpHeaders;
  /** From the Authorization header; null is anonymous. */
  readonly user: string | null;
}

/** What goes back. */
export interface Reply {
  readonly status?: number;
  /** In seconds. */
  readonly retryAfter?: number;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** Messages that go before it, on a stream. */
  readonly before?: readonly Fields[];
  /** Closes the connection instead. */
  readonly isDropped?: true;
}

/** Why a state is refused. */
export type BadState = 'kind' | 'size' | 'unknown' | 'binding' | 'expired' | 'used';

/** What a server holds while it runs. */
export interface World {
  /** How often the effect has happened. */
  effects: number;
  /** Flows that are done. */
  readonly spent: Set<string>;
}

/** The parts of a server; a faulty server replaces one. */
export interface Parts {
  readonly codec: Codec;
  /** Who asks, for the state; null is anonymous. */
  readonly identify: (request: Incoming) => string | null;
  /** What a new state is bound to. */
  readonly claims: (
    request: Incoming,
    user: string | null,
  ) => Pick<FlowState, 'method' | 'name' | 'digest' | 'user'>;
  /** Whether a state belongs to the request that brings it; `here` is what a new state would be bound to. */
  readonly bind: (state: FlowState, here: ReturnType<Parts['claims']>, request: Incoming) => boolean;
  /** Of a flow id. Unguessable. */
  readonly flowId: (request: Incoming) => string;
  /** In ms. */
  readonly expiresIn: number;
  /** Whether the last round of a flow counts once. */
  readonly singleUse: boolean;
  /** The text of a state from what was sent; undefined refuses it as of a wrong kind. */
  readonly stateText: (sent: unknown) => string | undefined;
  /** Answers a refused state; `afresh` begins anew. */
  readonly onBadState: (why: BadState, afresh: () => Reply, request: Incoming) => Reply;
  /** Where a request without a state stands; undefined: at the beginning. */
  readonly withoutState: (request: Incoming, beginning: FlowState) => FlowState | undefined;
  /** The rounds of the tools that ask: their questions by key. */
  readonly questions: readonly (readonly [string, Asked])[];
  /** The last word on what a round asks. */
  readonly ask: (asked: Asked, state: FlowState, request: Incoming) => Asked;
  /** Reads `inputResponses`. */
  readonly answersOf: (sent: unknown, world: World) => Fields | undefined;
  /** What was answered under a key. */
  readonly lookUp: (answers: Fields, key: string) => unknown;
  readonly readAnswer: (asked: Asked, answer: unknown, answers: Fields) => Answered;
  /** The next state after an accepted answer; more rounds than questions: done. */
  readonly advance: (state: FlowState, answers: Fields) => FlowState;
  readonly checkArguments: (args: Fields, state: FlowState | undefined) => boolean;
  /** Undefined: good. */
  readonly checkHeaders: (request: Incoming) => Reply | undefined;
  readonly checkMeta: (request: Incoming) => Reply | undefined;
  readonly checkCapabilities: (asked: Asked, request: Incoming) => Reply | undefined;
  /** The last word on every reply. */
  readonly finish: (reply: Reply, request: Incoming) => Reply;
  /** Largest state in characters, and largest body in bytes. */
  readonly limits: { readonly state: number; readonly body: number };
}

export const failed = (code: number, message: string, status = 200, data?: unknown): Reply => ({
  status,
  error: { code, message, ...(data !== undefined && { data }) },
});

/** The name in a request's params. */
export const nameOf = ({ params: { name, uri } }: Incoming): string =>
  typeof name === 'string' ? name : typeof uri === 'string' ? uri : '';

const REFUSED = failed(-32_602, 'Invalid or expired requestState');

/** A correct server's parts. */
export function correctParts(): Parts {
  return {
    codec: sealedCodec(),
    identify: ({ user }) => user,
    claims: (request, user) => ({
      method: request.method,
      name: nameOf(request),
      digest: digestOf(request.params['arguments'] ?? {}),
      user,
    }),
    bind: (state, here) =>
      state.method === here.method &&
      state.name === here.name &&
      state.digest === here.digest &&
      state.user === here.user,
    flowId: () => crypto.randomUUID(),
    expiresIn: 600_000,
    singleUse: true,
    stateText: (sent) => (typeof sent === 'string' ? sent : undefined),
    onBadState: () => REFUSED,
    withoutState: () => undefined,
    questions: TRANSFER,
    ask: (asked) => asked,
    answersOf: (sent) =>
      typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? { ...sent } : undefined,
    lookUp: (answers, key) => (Object.hasOwn(answers, key) ? answers[key] : undefined),
    readAnswer,
    advance: (state) => ({ ...state, round: state.round + 1 }),
    checkArguments,
    checkHeaders,
    checkMeta,
    checkCapabilities,
    finish: (reply) => reply,
    limits: { state: 65_536, body: 4_194_304 },
  };
}

/** `account` one of two; `note` at most 40 characters; nothing else. */
export function checkArguments(args: Fields): boolean {
  const { account, note = '', ...others } = args;
  return (
    (account === 'current' || account === 'savings') &&
    typeof note === 'string' &&
    note.length <= 40 &&
    Object.keys(others).length === 0
  );
}

function checkHeaders(request: Incoming): Reply | undefined {
  const { headers, method, params } = request;
  const named = params['name'] ?? params['uri'];
  const meta = params['_meta'] as Fields | undefined;
  const isRight =
    headers['mcp-method'] === method &&
    (named === undefined || headers['mcp-name'] === named) &&
    headers['mcp-protocol-version'] === meta?.['io.modelcontextprotocol/protocolVersion'];
  return isRight ? undefined : failed(-32_020, 'A header differs from the body.', 400);
}

function checkMeta({ params }: Incoming): Reply | undefined {
  const meta = params['_meta'] as Fields | undefined;
  const version = meta?.['io.modelcontextprotocol/protocolVersion'];
  const capabilities = meta?.['io.modelcontextprotocol/clientCapabilities'];
  if (typeof version !== 'string' || typeof capabilities !== 'object' || capabilities === null)
    return failed(-32_602, '_meta is not complete.', 400);
  if (Array.isArray(capabilities)) return failed(-32_602, '_meta is not complete.', 400);
  if (version !== '2026-07-28')
    return failed(-32_022, 'No such version.', 400, { supported: ['2026-07-28'], requested: version });
  return undefined;
}

function checkCapabilities({ params: { mode } }: Asked, { params }: Incoming): Reply | undefined {
  const meta = params['_meta'] as Fields;
  const { elicitation } = meta['io.modelcontextprotocol/clientCapabilities'] as { elicitation?: Fields };
  const modes = elicitation && Object.keys(elicitation).length === 0 ? { form: {} } : elicitation;
  const wanted = mode === 'url' ? 'url' : 'form';
  return modes && Object.hasOwn(modes, wanted)
    ? undefined
    : failed(-32_021, 'A capability is missing.', 400, {
        requiredCapabilities: { elicitation: { [wanted]: {} } },
      });
}
