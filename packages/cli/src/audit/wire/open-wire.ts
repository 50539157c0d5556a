import type { Target } from '../../connect/target.js';
import { HttpWire } from './http-wire.js';
import type { HeadersOfCallers } from './http-headers.js';
import type { Wire } from './message.js';
import { StdioWire } from './stdio-wire.js';

export interface WireOptions {
  readonly callers: HeadersOfCallers;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long one request may take, in ms. */
  readonly timeoutMs: number;
  /** Ends everything. */
  readonly signal?: AbortSignal;
}

/** Opens the way to a target. */
export function openWire(target: Target, { callers, env, timeoutMs, signal }: WireOptions): Wire {
  const common = { timeoutMs, ...(signal !== undefined && { signal }) };
  return target.type === 'http'
    ? new HttpWire({ url: target.url, callers, ...common })
    : new StdioWire({ command: target.command, env, ...common });
}
