import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/** What Node.js says where no connection came about. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** What the machine was asked for, where an error is about that and not about a connection that stood. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);

/** Causes within causes stop to matter here. */
const DEEPEST = 8;

/**
 * Whether an error of a transport says for certain that the request did not leave. In doubt it does not: what may have
 * been done is not done again. It holds as long as a `fetch` of the host's own does not repeat requests by itself.
 */
export function hasNotLeft(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return false;
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  const { code, syscall, cause } = error as { code?: unknown; syscall?: unknown; cause?: unknown };
  if (typeof code === 'string' && NO_CONNECTION.has(code)) return true;
  if (typeof syscall === 'string' && CONNECTING.has(syscall)) return true;
  return hasNotLeft(cause, depth + 1);
}
