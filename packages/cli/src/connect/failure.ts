import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { Ended } from '../outcome.js';
import { quoted } from '../quoted.js';
import { harmlessLine } from '../safe-text.js';
import { withoutSecrets } from './headers.js';
import type { Target } from './target.js';

/** What a failure needs to be told from the outside. */
export interface FailureContext {
  readonly target: Target;
  /** How long one request may take, in ms. */
  readonly timeout: number;
  /** What is sent along and must not be printed. */
  readonly secrets: readonly string[];
  /** Whether it answered as a server of MCP before. */
  readonly isConnected: boolean;
}

/** An error and what caused it. The official client keeps some causes in `data`. */
export function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < 10 && !chain.includes(each);) {
    chain.push(each);
    const data = each instanceof SdkError && isObject(each.data) ? each.data['cause'] : undefined;
    each = each instanceof AggregateError ? each.errors[0] : (each.cause ?? data);
  }
  return chain;
}

/**
 * What went wrong with a connection, in words that say what to do next. Nothing of a response's body is in it, for
 * that may quote what was sent.
 */
export function reasonOf(error: unknown, context: FailureContext): string {
  const chain = chainOf(error);
  for (const each of chain) {
    const reason =
      httpReason(each, context) ?? systemReason(each, context) ?? clientReason(each, context) ?? undefined;
    if (reason !== undefined) return reason;
  }
  const last = chain.at(-1);
  return quotedSafely(last === undefined ? String(error) : last.message, context);
}

/** What somebody else wrote. Secrets go first: of one that is cut off, the rest would not be found any more. */
function quotedSafely(text: string, { secrets }: FailureContext): string {
  return quoted(withoutSecrets(text, secrets));
}

/** The whole chain of an error, a line each, for those who look for a fault. */
export function detailsOf(error: unknown, context: FailureContext): string[] {
  const causes = chainOf(error).filter((each) => !(each instanceof Ended));
  return causes.map((each) => `  ${each.name}: ${quotedSafely(each.message, context)}`);
}

function httpReason(error: Error, context: FailureContext): string | undefined {
  if (!(error instanceof SdkHttpError)) {
    return error.name === 'InsufficientScopeError'
      ? 'it refuses access (403): the token lacks a permission.'
      : undefined;
  }
  const { status } = error;
  if (status === 401) {
    return context.secrets.length > 0
      ? 'it does not take these credentials (401). The token may have expired, or be for another server.'
      : 'it wants to know who you are (401). Put a token into a variable, and name that: --bearer-env MY_TOKEN';
  }
  if (status === 403) return 'it refuses access (403). The token may lack a permission.';
  if ([404, 405, 410, 501].includes(status)) {
    return `nothing speaks MCP at this path (${status}). Is the URL whole? Many end in /mcp`;
  }
  if (status === 429) return 'it gets too many requests (429). Wait, and try again.';
  if (status >= 500) return `it has a fault of its own (${status}). Try again later.`;
  if (status >= 300 && status < 400) return quotedSafely(error.message.replace(/^[^:]*: /, ''), context);
  return `it answers with HTTP ${status}.`;
}

const CERTIFICATE =
  /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)/;

function systemReason(error: Error, { target }: FailureContext): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (target.type === 'stdio') {
    const program = harmlessLine(target.command[0]);
    if (code === 'ENOENT') return `there is no program ${program}. Is it installed, and the path right?`;
    if (code === 'EACCES') return `${program} may not be run (${code}).`;
    return undefined;
  }
  if (code === 'ECONNREFUSED') {
    return 'nothing listens there (ECONNREFUSED). Is the server running, and the port right?';
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no host of this name (${code}).`;
  if (['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)) {
    return `the host cannot be reached (${code}).`;
  }
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) return `it closed the connection (${code}).`;
  if (CERTIFICATE.test(code)) {
    return `its certificate is not trusted (${code}). For an authority of your own, set NODE_EXTRA_CA_CERTS.`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return `it does not speak TLS there (${code}). Should the URL begin with http:// ?`;
  }
  if (code.startsWith('HPE_')) return `what answers there does not speak HTTP (${code}).`;
  return undefined;
}

function clientReason(error: Error, context: FailureContext): string | undefined {
  const { target, timeout } = context;
  if (error instanceof ProtocolError) {
    return `it answers with error ${error.code}: ${quotedSafely(error.message, context)}`;
  }
  const isForeign = error.name === 'ZodError' || error.name === 'SyntaxError';
  if (isForeign || hasCode(error, SdkErrorCode.ClientHttpUnexpectedContent)) {
    if (context.isConnected) return 'its response is none that MCP has.';
    return 'what answers there is no MCP server. Is the URL whole? Many end in /mcp';
  }
  if (hasCode(error, SdkErrorCode.RequestTimeout)) {
    const hint = target.type === 'stdio' ? ' Does the program speak MCP on its stdout?' : '';
    return `it did not answer within ${timeout / 1000} s (--timeout).${hint}`;
  }
  if (error.message === 'bad port') return 'its port is one that is kept for something else than HTTP.';
  if (hasCode(error, SdkErrorCode.ConnectionClosed) || hasCode(error, SdkErrorCode.NotConnected)) {
    return target.type === 'stdio' ? 'the program ended.' : 'it closed the connection.';
  }
  return undefined;
}

function hasCode(error: Error, code: SdkErrorCode): boolean {
  return error instanceof SdkError && error.code === code;
}

/** The code of an error of the system, of TLS, or of Node's HTTP. */
function codeOf(error: Error): string | undefined {
  if (error instanceof SdkError || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
