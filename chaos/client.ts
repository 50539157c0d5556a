/**
 * A client of raw HTTP and JSON-RPC. It sends the very same bytes again when a response was lost, when nobody was
 * there, or when the server says so; that is what the library promises to stand.
 */
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import type { Random } from './random.js';
import type { Endpoint, RedeemArguments } from './wire.js';

/** Names a request and its attempt to the fault proxy, which decides by it. Never reaches a server. */
export const LABEL_HEADER = 'x-chaos';

/** Longest that one attempt may take, in ms. A server that stands still takes longer, and then does the work after all. */
const ATTEMPT_MS = 1_000;

/** Longest that a request is tried, in ms: far more than any outage lasts. */
const PATIENCE_MS = 30_000;

const BACKOFF_MS = { first: 15, longest: 400 } as const;

/** A request of a flow, ready to be sent any number of times. */
export interface Call {
  /** Unlike every other call's. */
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly bearer: string;
  readonly body: string;
}

/** What the tool answers. */
export interface ToolResult {
  readonly resultType?: string;
  readonly requestState?: string;
  readonly inputRequests?: Readonly<Record<string, { readonly params: { readonly message: string } }>>;
  readonly content?: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

/** Why a request is sent again. */
export type Setback = 'cut' | 'timeout' | 'gateway' | 'unavailable' | 'busy';

/** What came of one attempt. */
export type Reply =
  | { readonly type: 'result'; readonly result: ToolResult; readonly text: string }
  /** -32602: the state was not accepted. */
  | { readonly type: 'rejected'; readonly text: string }
  | { readonly type: 'setback'; readonly setback: Setback }
  | { readonly type: 'unexpected'; readonly text: string };

/** What came of a request in the end. `stuck`: nothing, however long it was tried. */
export type Outcome =
  Exclude<Reply, { readonly type: 'setback' }> | { readonly type: 'stuck'; readonly last: Setback };

/** What a request asks for. */
export interface CallParts {
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly bearer: string;
  readonly arguments: RedeemArguments;
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
}

/** Makes a request of its parts. */
export function makeCall({ label, endpoint, bearer, ...params }: CallParts): Call {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const message = {
    jsonrpc: '2.0',
    id: label,
    method: 'tools/call',
    params: { name: 'redeem', ...params, _meta },
  };
  return { label, endpoint, bearer, body: JSON.stringify(message) };
}

/** Sends requests to one address. */
export class Client {
  readonly #port: number;
  readonly #random: Random;
  readonly #onRetry: (setback: Setback) => void;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number, random: Random, onRetry: (setback: Setback) => void) {
    this.#port = port;
    this.#random = random;
    this.#onRetry = onRetry;
  }

  /** Sends a request until something comes of it, or patience is over. */
  async exchange(call: Call): Promise<Outcome> {
    const random = this.#random.fork('backoff', call.label);
    const until = performance.now() + PATIENCE_MS;
    let pause: number = BACKOFF_MS.first;
    for (let attempt = 0; ; attempt += 1) {
      const reply = await this.#send(call, attempt);
      if (reply.type !== 'setback') return reply;
      if (performance.now() > until) return { type: 'stuck', last: reply.setback };
      this.#onRetry(reply.setback);
      await sleep(pause * (0.5 + random.next()));
      pause = Math.min(pause * 1.6, BACKOFF_MS.longest);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send({ label, endpoint, bearer, body }: Call, attempt: number): Promise<Reply> {
    try {
      const { status, text } = await this.#post(`/${endpoint}`, body, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${bearer}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'redeem',
        [LABEL_HEADER]: `${label}/${attempt}`,
      });
      return readReply(status, text);
    } catch (error) {
      const late = error instanceof Error && error.name === 'AbortError';
      return { type: 'setback', setback: late ? 'timeout' : 'cut' };
    }
  }

  #post(
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      const options = { host: '127.0.0.1', port: this.#port, method: 'POST', path, headers, signal };
      httpRequest({ ...options, agent: this.#agent }, (response) => {
        buffer(response).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, text: bytes.toString('utf8') }),
          reject,
        );
      })
        .once('error', reject)
        .end(body);
    });
  }
}

/** What a response says. Shared with the proxy, which sees those too that clients never get. */
export function readReply(status: number, text: string): Reply {
  if (status >= 502 && status <= 504) return { type: 'setback', setback: 'gateway' };
  let parsed: {
    readonly result?: ToolResult;
    readonly error?: { readonly code: number; readonly data?: unknown };
  };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return { type: 'unexpected', text: `HTTP ${status}: ${text.slice(0, 200)}` };
  }
  const { result, error } = parsed;
  if (status === 200 && result !== undefined) return { type: 'result', result, text };
  const reason = (error?.data as { readonly reason?: unknown } | undefined)?.reason;
  if (error?.code === -32_602 && reason === 'invalid_request_state') return { type: 'rejected', text };
  if (error?.code === -32_603 && reason === 'unavailable') return { type: 'setback', setback: 'unavailable' };
  if (error?.code === 7003) return { type: 'setback', setback: 'busy' };
  return { type: 'unexpected', text: `HTTP ${status}: ${text.slice(0, 200)}` };
}
