/** A client of raw JSON-RPC over HTTP: sends the very same request again, to any process, until something comes of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';

const TASKS = 'io.modelcontextprotocol/tasks';

/** Longest that one attempt may take, and that a request is tried, in ms. */
const ATTEMPT_MS = 5_000;
const PATIENCE_MS = 60_000;

const PAUSE_MS = { first: 20, longest: 500 } as const;

/** A question on the wire. */
export interface WireQuestion {
  readonly params: { readonly message: string };
}

/** What any of the methods gives: those of the members that are looked at. */
export interface Reply {
  readonly resultType?: string;
  readonly requestState?: string;
  readonly taskId?: string;
  readonly status?: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly inputRequests?: Readonly<Record<string, WireQuestion>>;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
  readonly error?: unknown;
}

/** What the server said that is no result, or nothing for too long. */
class Unexpected extends Error {
  override readonly name = 'Unexpected';
}

/** Sends requests to several processes. */
export class TaskClient {
  readonly #ports: readonly number[];
  readonly #random: Random;
  readonly #onRetry: () => void;
  #requests = 0;

  constructor(ports: readonly number[], random: Random, onRetry: () => void) {
    this.#ports = ports;
    this.#random = random;
    this.#onRetry = onRetry;
  }

  /** @throws Unexpected */
  async call(method: string, name: string, params: object): Promise<Reply> {
    this.#requests += 1;
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: this.#requests,
      method,
      params: { ...params, _meta: META },
    });
    const until = performance.now() + PATIENCE_MS;
    let pause: number = PAUSE_MS.first;
    for (;;) {
      const reply = await this.#send(method, name, body);
      if (reply !== undefined) return reply;
      if (performance.now() > until) throw new Unexpected(`${method} was not answered`);
      this.#onRetry();
      await sleep(pause * (0.5 + this.#random.next()));
      pause = Math.min(pause * 1.6, PAUSE_MS.longest);
    }
  }

  /** Undefined when the same request may be sent again. */
  async #send(method: string, name: string, body: string): Promise<Reply | undefined> {
    const port = this.#random.pick(this.#ports) ?? 0;
    let text: string;
    try {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { ...HEADERS, 'mcp-method': method, 'mcp-name': name },
        body,
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      text = await response.text();
    } catch {
      return undefined;
    }
    const { result, error } = JSON.parse(text) as {
      readonly result?: Reply;
      readonly error?: { readonly code: number; readonly data?: { readonly reason?: string } };
    };
    if (result !== undefined) return result;
    if (error?.data?.reason === 'unavailable' || error?.code === 7003) return undefined;
    throw new Unexpected(`${method} was answered with ${text.slice(0, 300)}`);
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
};

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
};
