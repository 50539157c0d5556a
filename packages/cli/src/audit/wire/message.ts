/** What travels, as far as an audit looks at it. The audit's own reading: it shares no code with client or server. */

/** JSON, read from the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Who sends: the caller whose flow it is, another caller, or nobody in particular. */
export type Caller = 'main' | 'other' | 'anonymous';

/** A request as it will be sent. */
export interface WireRequest {
  readonly method: string;
  /** With `_meta`. */
  readonly params: JsonObject;
  readonly caller: Caller;
  /** Headers that differ from what the request calls for; null leaves one out. Over stdio there are none. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** What came back. */
export interface WireReply {
  /** Over HTTP only. */
  readonly status?: number;
  /** The JSON-RPC response, where there was one. */
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
  /** Requests that the server sent, which it must not. */
  readonly serverRequests: readonly string[];
  /** Why there is no response: refused connection, time over, no JSON. */
  readonly failure?: string;
  /** When the server wants to be asked again, in ms from now on (`Retry-After`). Over HTTP only. */
  readonly retryAfterMs?: number;
  /** How long it took, in ms. */
  readonly ms: number;
}

/** A way to the target. */
export interface Wire {
  readonly kind: 'http' | 'stdio';
  /** Never rejects but for the signal: what goes wrong is a reply with `failure`. */
  send(request: WireRequest): Promise<WireReply>;
  /** What can be sent by hand to see the same: a curl line, or a line of JSON. Values of callers' headers are placeholders. */
  print(request: WireRequest): string;
  /** The header of a caller whose value stands in a text, by its name. */
  headerIn(text: string): string | undefined;
  close(): Promise<void>;
}
