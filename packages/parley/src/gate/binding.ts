import type { ServerContext } from '@modelcontextprotocol/server';
import type { Binding } from '../carrier/index.js';
import { principalDigest, requestDigest } from '../seal/index.js';
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

/**
 * Tells who asks for what: on the first call, and the same from then on.
 *
 * @param args the arguments as the client sent them.
 * @returns a function that rejects with `BindingFailed`.
 */
export function binderOf(
  host: GateHost,
  source: EventSource,
  args: unknown,
  ctx: ServerContext,
): () => Promise<Binding> {
  let made: Promise<Binding> | undefined;
  return () => (made ??= bind(host, source, args, ctx));
}

async function bind(
  host: GateHost,
  { method, target }: EventSource,
  args: unknown,
  ctx: ServerContext,
): Promise<Binding> {
  let request: Uint8Array;
  try {
    request = requestDigest({ method, target, arguments: args }, host.settings.limits.argumentsDepth);
  } catch (error) {
    throw new BindingFailed('request', error);
  }
  try {
    return { request, principal: principalDigest(await host.principal(ctx)) };
  } catch (error) {
    throw new BindingFailed('principal', error);
  }
}
