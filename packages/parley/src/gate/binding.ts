import type { ServerContext } from '@modelcontextprotocol/server';
import type { Binding } from '../carrier/index.js';
import { principalDigest, requestDigest, type PrincipalParts } from '../seal/index.js';
import type { EventSource } from './events.js';
import type { GateHost } from './gate-parts.js';

/** Who asks, or for what, could not be told. Local to the gate; never thrown at a user of the library. */
export class BindingFailed extends Error {
  readonly part: 'principal' | 'request';
  constructor(part: 'principal' | 'request', cause: unknown) {
    super(`binding failed: ${part}`, { cause });
    this.part = part;
  }
}

/** What a round is bound to; a promise where the author's `principal` promises, or when it could not be told. */
export type Bind = () => Binding | Promise<Binding>;

/**
 * Tells who asks for what: on the first call, and the same from then on.
 *
 * @param args the arguments as the client sent them.
 * @returns a function that never throws; what it promises may be rejected with `BindingFailed`.
 */
export function binderOf(host: GateHost, source: EventSource, args: unknown, ctx: ServerContext): Bind {
  let made: Binding | Promise<Binding> | undefined;
  return () => (made ??= bind(host, source, args, ctx));
}

function bind(
  host: GateHost,
  { method, target }: EventSource,
  args: unknown,
  ctx: ServerContext,
): Binding | Promise<Binding> {
  let request: Uint8Array;
  try {
    request = requestDigest({ method, target, arguments: args }, host.settings.limits.argumentsDepth);
  } catch (error) {
    return Promise.reject(new BindingFailed('request', error));
  }
  try {
    const principal = host.principal(ctx);
    if (isPromised(principal)) return bindLater(request, principal);
    return { request, principal: principalDigest(principal) };
  } catch (error) {
    return Promise.reject(new BindingFailed('principal', error));
  }
}

async function bindLater(
  request: Uint8Array,
  principal: PromiseLike<PrincipalParts | string | null>,
): Promise<Binding> {
  try {
    return { request, principal: principalDigest(await principal) };
  } catch (error) {
    throw new BindingFailed('principal', error);
  }
}

function isPromised<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
