import type {
  AuthInfo,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageClassification,
  RequestId,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admitted } from './admit.js';
import { HttpContext } from './http-context.js';
import { keepAlive } from './keep-alive.js';
import { toWebRequest } from './web-request.js';

/** -32021: the one error of a handler with a status of its own, 400 (MRTR, missing client capability). */
const MISSING_CAPABILITY = -32_021;

const JSON_HEAD = 'application/json';

/** The head of a stream, as the SDK's entry sends it. */
const STREAM_HEAD = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
} as const;

type Http = NonNullable<ServerContext['http']>;

/** What an exchange is made of. */
export interface ExchangeInit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admitted: Admitted;
  readonly authInfo: AuthInfo | undefined;
  /** Whether notifications are dropped, which leaves every response plain JSON. */
  readonly jsonOnly: boolean;
  /** Time between two signs of life on a stream, in ms. */
  readonly keepAliveMs: number;
}

/**
 * One request and its response, on a connection of `node:http`. Answers in JSON, or, from the first notification on,
 * as a stream of events, as the SDK's entry does.
 */
export class Exchange {
  readonly admitted: Admitted;
  readonly authInfo: AuthInfo | undefined;
  readonly classification: MessageClassification;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #jsonOnly: boolean;
  readonly #keepAliveMs: number;
  #hangUp: AbortController | undefined;
  #webRequest: Request | undefined;
  #stopKeepAlive: (() => void) | undefined;
  #streams = false;
  #over = false;

  constructor(init: ExchangeInit) {
    this.admitted = init.admitted;
    this.authInfo = init.authInfo;
    this.classification = init.admitted.classification;
    this.#request = init.request;
    this.#response = init.response;
    this.#jsonOnly = init.jsonOnly;
    this.#keepAliveMs = init.keepAliveMs;
  }

  /** The client's id of the request. */
  get id(): RequestId {
    return this.admitted.message.id;
  }

  /** Whether nothing more can be written. */
  get over(): boolean {
    return this.#over;
  }

  /** `ctx.http`, with what the SDK makes of it. */
  http(made: Http = {}): Http {
    return new HttpContext(made, this.authInfo, () => (this.#webRequest ??= this.#toWebRequest())) as Http;
  }

  #toWebRequest(): Request {
    this.#hangUp = new AbortController();
    if (this.#response.destroyed) this.#hangUp.abort();
    return toWebRequest(this.#request, this.#hangUp.signal);
  }

  /** Writes what belongs to this request and is not its response. */
  notify(message: JSONRPCNotification | JSONRPCRequest): void {
    if (this.#over || this.#jsonOnly) return;
    if (!this.#streams) this.#startStream();
    this.#writeEvent(message);
  }

  /** Writes the response, which ends the exchange. Its id is the client's. */
  answer(response: JSONRPCResponse): void {
    if (this.#over) return;
    if (this.#streams) {
      this.#writeEvent(response);
      this.#end();
      return;
    }
    const status = 'error' in response && response.error.code === MISSING_CAPABILITY ? 400 : 200;
    const body = JSON.stringify(response);
    this.#response.writeHead(status, {
      'Content-Type': JSON_HEAD,
      'Content-Length': Buffer.byteLength(body),
    });
    this.#end(body);
  }

  /** Ends the exchange without an answer: its instance was closed under it. */
  abandon(): void {
    if (this.#over) return;
    // 499 is what the SDK's entry answers here.
    if (!this.#streams) this.#response.writeHead(499);
    this.#end();
  }

  /** To be called when the connection is gone. */
  hungUp(): void {
    this.#over = true;
    this.#stopKeepAlive?.();
    this.#hangUp?.abort();
  }

  #startStream(): void {
    this.#streams = true;
    this.#response.writeHead(200, STREAM_HEAD);
    this.#stopKeepAlive = keepAlive(this.#keepAliveMs, () => this.#response.write(': keepalive\n\n'));
  }

  #writeEvent(message: JSONRPCNotification | JSONRPCRequest | JSONRPCResponse): void {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  #end(body?: string): void {
    this.#over = true;
    this.#stopKeepAlive?.();
    this.#response.end(body);
  }
}
