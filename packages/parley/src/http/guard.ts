import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Headers that passed are remembered: a server has few names. More than this are checked anew each time. */
const REMEMBERED = 64;

/** Whether a server that listens on this address is reached from its own machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** A host as it stands in an address: IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Whom a server answers, by the names that browsers and clients call it with. */
export interface GuardOptions {
  /** Address to listen on. */
  readonly host: string;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Says why a request must not be answered, undefined if it may. */
export type Guard = (headers: IncomingHttpHeaders) => string | undefined;

/**
 * Stops DNS rebinding: a page that a browser loaded from elsewhere must not reach this server under a name of its own
 * (Streamable HTTP, "Security Warning"). The SDK's rules decide. On loopback, its names for the local machine are
 * allowed unless the options name others.
 */
export function guard({ host, allowedHosts, allowedOrigins }: GuardOptions): Guard {
  // Of the addresses that loopback has, the SDK names one.
  const own = isLoopback(host) ? new URL(`http://${inUrl(host)}`).hostname : undefined;
  const hosts = allowedHosts ?? (own === undefined ? undefined : [...localhostAllowedHostnames(), own]);
  const origins = allowedOrigins ?? (own === undefined ? undefined : [...localhostAllowedOrigins(), own]);
  const passed = new Set<string>();
  return ({ host: hostHeader, origin }) => {
    const key = `${hostHeader ?? ''}\n${origin ?? ''}`;
    if (passed.has(key)) return undefined;
    const fault =
      (hosts && faultOf(validateHostHeader(hostHeader, [...hosts]))) ??
      (origins && faultOf(validateOriginHeader(origin, [...origins])));
    if (fault === undefined && passed.size < REMEMBERED) passed.add(key);
    return fault;
  };
}

function faultOf(result: { readonly ok: boolean; readonly message?: string }): string | undefined {
  return result.ok ? undefined : (result.message ?? 'Forbidden');
}
