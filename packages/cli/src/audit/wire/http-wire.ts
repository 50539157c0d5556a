import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import { harmlessLine } from '../../safe-text.js';
import { callerHeadersOf, headerIn, headersOf, type HeadersOfCallers } from './http-headers.js';
import type { Wire, WireReply, WireRequest } from './message.js';
import { curlLine, jsonLine } from './print.js';
import { isObject, isResponseTo, methodOfRequest, parse, readResponse } from './response.js';
import { EventStream } from './sse.js';

/** A target behind a URL. */
export interface HttpTarget {
  readonly url: string;
  readonly callers: HeadersOfCallers;
  /** How long one request may take, in ms. */
  readonly timeoutMs: number;
  /** Ends everything. */
  readonly signal?: AbortSignal;
}

/** More than any answer takes, in bytes; less than would hurt who audits. */
const MOST_BYTES = 8 * 1024 * 1024;

type Read = Omit<WireReply, 'ms' | 'serverRequests'>;

/** The wire over Streamable HTTP: a POST a request, on a connection of its own, so that none is held against another. */
export class HttpWire implements Wire {
  readonly kind = 'http';
  readonly #target: HttpTarget;
  #lastId = 0;

  constructor(target: HttpTarget) {
    this.#target = target;
  }

  async send(request: WireRequest): Promise<WireReply> {
    const { signal, timeoutMs } = this.#target;
    signal?.throwIfAborted();
    const began = performance.now();
    const serverRequests: string[] = [];
    const late = AbortSignal.timeout(timeoutMs);
    const end = signal === undefined ? late : AbortSignal.any([signal, late]);
    let read: Read;
    try {
      const id = (this.#lastId += 1);
      const response = await this.#post(request, jsonLine(request, id), end);
      const retryAfter = Number(response.headers['retry-after'] ?? NaN);
      read = {
        status: response.statusCode ?? 0,
        ...(retryAfter >= 0 && { retryAfterMs: retryAfter * 1000 }),
        ...(await this.#read(response, id, serverRequests)),
      };
      // It may not have read the whole request, and would keep the rest of it waiting.
      response.destroy();
    } catch (error) {
      signal?.throwIfAborted();
      read = { failure: late.aborted ? `no response within ${timeoutMs / 1000} s` : faultOf(error) };
    }
    return { ...read, serverRequests, ms: performance.now() - began };
  }

  print(request: WireRequest): string {
    return curlLine(this.#target.url, request, this.#target.callers);
  }

  headerIn(text: string): string | undefined {
    return headerIn(text, this.#target.callers);
  }

  async close(): Promise<void> {
    // Each connection ended with its request.
  }

  #post(request: WireRequest, body: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, callers } = this.#target;
    const bytes = Buffer.from(body);
    const headers = [
      ...headersOf(request),
      ...callerHeadersOf(request, callers),
      ['Content-Length', String(bytes.length)] as const,
    ];
    const post = url.startsWith('https:') ? overHttps : overHttp;
    return new Promise((resolve, reject) => {
      const sent = post(url, { method: 'POST', agent: false, signal, headers: Object.fromEntries(headers) });
      // A server may refuse a large body before it has read all of it: then the answer is there, and the pipe breaks.
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.end(bytes);
    });
  }

  async #read(response: IncomingMessage, id: number, serverRequests: string[]): Promise<Read> {
    const { statusCode: status = 0, headers } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      return { failure: `it redirects to ${this.#shown(headers.location)}, which is not followed` };
    }
    if (/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      return readEvents(response, id, serverRequests);
    }
    const text = await readAll(response);
    if (text === undefined) return { failure: TOO_LARGE };
    const message = parse(text);
    if (!isObject(message)) return noJsonRpc(status);
    const asked = methodOfRequest(message);
    if (asked !== undefined) serverRequests.push(asked);
    if (isResponseTo(id, message)) {
      const read = readResponse(message);
      return read.failure === undefined || status < 400 ? read : noJsonRpc(status);
    }
    const isError = status >= 400;
    return isError ? noJsonRpc(status) : { failure: 'a response to another request, or none at all' };
  }

  /** Where a redirect goes, without what a caller's headers hold: a server may put anything there. */
  #shown(location: string | undefined): string {
    if (location === undefined) return 'nowhere';
    return this.headerIn(location) !== undefined
      ? 'an address that holds a header of the request'
      : harmlessLine(location.split('?')[0] ?? '').slice(0, 200);
  }
}

const TOO_LARGE = `more than ${MOST_BYTES / 1024 / 1024} MiB of response`;

/** A status that refuses is an answer by itself. */
function noJsonRpc(status: number): Read {
  if (status >= 400 && status < 500) return {};
  return { failure: status >= 500 ? `HTTP ${status}` : `HTTP ${status}, and no JSON-RPC` };
}

async function readAll(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > MOST_BYTES) return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readEvents(response: IncomingMessage, id: number, serverRequests: string[]): Promise<Read> {
  const events = new EventStream();
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (const data of events.push(chunk)) {
      const message = parse(data);
      if (!isObject(message)) continue;
      const asked = methodOfRequest(message);
      if (asked !== undefined) serverRequests.push(asked);
      else if (isResponseTo(id, message)) return readResponse(message);
    }
    if (bytes > MOST_BYTES) return { failure: TOO_LARGE };
  }
  return { failure: 'the stream ended without a response' };
}

/** What went wrong with a connection. The code only: messages quote. */
function faultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ECONNREFUSED') return 'nothing listens there (ECONNREFUSED)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no host of this name (${code})`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return `it closed the connection (${code})`;
  return `the connection failed (${code})`;
}
