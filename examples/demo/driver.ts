/**
 * The official MCP client, driven by hand: one request of a call at a time, so that each round can be shown.
 * A program that does not want to see them leaves `allowInputRequired` out; then the client's own handlers
 * for `elicitation/create` are called, and the rounds pass unseen.
 */
import {
  Client,
  isInputRequiredResult,
  ProtocolError,
  StreamableHTTPClientTransport,
  type InputRequests,
  type InputResponses,
} from '@modelcontextprotocol/client';
import { SERVED_BY } from './proxy.js';

/** One request of a call. `state` is echoed exactly as the last round gave it. */
export interface Call {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly state?: string;
  readonly answers?: InputResponses;
}

/** What became of one request. */
export type Round = { readonly port: number; readonly ms: number } & (
  | { readonly type: 'asks'; readonly asks: InputRequests; readonly state: string }
  | { readonly type: 'result'; readonly text: string; readonly failed: boolean }
  | { readonly type: 'refused'; readonly code: number; readonly message: string; readonly data: unknown }
);

type Outcome = Round extends infer R ? (R extends Round ? Omit<R, 'port' | 'ms'> : never) : never;

/** Nothing here takes longer than a build, so something is wrong when it does. */
const TIMEOUT_MS = 10_000;

/** Somebody who calls tools. */
export class Caller {
  readonly #client: Client;
  #port = 0;

  private constructor(name: string) {
    this.#client = new Client(
      { name: `${name}'s client`, version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
    );
  }

  /** Connects as the one whom the bearer token names. */
  static async connect(url: string, token: string): Promise<Caller> {
    const caller = new Caller(token);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      authProvider: { token: async () => token },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        caller.#port = Number(response.headers.get(SERVED_BY));
        return response;
      },
    });
    await caller.#client.connect(transport);
    return caller;
  }

  /** The revision of the protocol that was agreed on. */
  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? 'unknown';
  }

  /** Sends one request and tells what came back. */
  async send(call: Call): Promise<Round> {
    const started = performance.now();
    const outcome = await this.#request(call);
    return { ...outcome, port: this.#port, ms: Math.round(performance.now() - started) };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #request({ tool, args, state, answers }: Call): Promise<Outcome> {
    const params = {
      name: tool,
      arguments: args,
      ...(state !== undefined && { requestState: state }),
      ...(answers !== undefined && { inputResponses: answers }),
    };
    try {
      const result = await this.#client.callTool(params, { allowInputRequired: true, timeout: TIMEOUT_MS });
      if (isInputRequiredResult(result)) {
        return { type: 'asks', asks: result.inputRequests ?? {}, state: result.requestState ?? '' };
      }
      const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      return { type: 'result', text, failed: result.isError === true };
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return { type: 'refused', code: error.code, message: error.message, data: error.data };
    }
  }
}
