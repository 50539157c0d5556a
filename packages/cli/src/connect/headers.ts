import { describeUrl } from 'mcp-parley/client';
import { variableName } from '../hide-secrets.js';
import { WrongUse } from '../outcome.js';
import type { Target } from './target.js';

/** Options that say what is sent along with every request. */
export interface HeaderOptions {
  /** `name: value`, as typed. */
  readonly header?: readonly string[];
  /** Name of the environment variable that holds a bearer token. */
  readonly bearerEnv?: string;
}

/** Headers of every request, and the values among them that must not be printed. */
export interface RequestHeaders {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly secrets: readonly string[];
}

/** What the transport and the protocol set themselves. */
const RESERVED =
  /^(?:accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade)$/;

/** Headers that sign somebody in. */
const SIGNS_IN: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

/**
 * Reads the headers off the options. What stands in them is a secret: no message here says more than its name.
 *
 * @throws WrongUse for a header that is none or not the caller's to set, an empty variable, a program that is no
 * HTTP server, and a secret that would cross a network in clear text.
 */
export function readHeaders(
  options: HeaderOptions,
  target: Target,
  env: Readonly<Record<string, string | undefined>>,
): RequestHeaders {
  const headers = (options.header ?? []).map(readHeader);
  const names = headers.map(([name]) => name.toLowerCase());
  const { bearerEnv } = options;
  if (target.type === 'stdio') {
    if (headers.length > 0 || bearerEnv !== undefined) {
      throw new WrongUse(
        '--header and --bearer-env are for servers behind a URL. A program takes its secrets from the environment.',
      );
    }
    return { headers: [], secrets: [] };
  }
  if (bearerEnv !== undefined) {
    if (names.includes('authorization')) {
      throw new WrongUse('Both --bearer-env and --header set Authorization. Leave one of them out.');
    }
    headers.push(['Authorization', `Bearer ${readToken(bearerEnv, env)}`]);
    names.push('authorization');
  }
  if (names.some((name) => SIGNS_IN.has(name)) && !describeUrl(target.url).openable) {
    throw new WrongUse(
      'The token would cross the network in clear text: this URL is http, to another machine. Use https.',
    );
  }
  return { headers, secrets: headers.flatMap(([, value]) => secretsIn(value)) };
}

function readHeader(text: string, index: number): [name: string, value: string] {
  const at = text.indexOf(':');
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at < 1 || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw new WrongUse(`--header number ${index + 1} is not of the form 'name: value'.`);
  }
  if (RESERVED.test(name.toLowerCase())) throw new WrongUse(`The header ${name} is not yours to set.`);
  // Latin-1 without controls: what HTTP can carry, and no line break.
  if (value === '' || !/^[\t\u0020-\u007e\u0080-\u00ff]+$/.test(value)) {
    throw new WrongUse(`The header ${name} has no value that HTTP can carry.`);
  }
  return [name, value];
}

function readToken(name: string, env: Readonly<Record<string, string | undefined>>): string {
  const shown = variableName(name);
  const token = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
  if (token === undefined || token === '') {
    throw new WrongUse(
      `${shown} is not set. --bearer-env takes the name of a variable that holds the token.`,
    );
  }
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new WrongUse(`${shown} does not hold a token that HTTP can carry.`);
  return token;
}

/** The value, and the token in `Bearer <token>`: an error page may quote either. */
function secretsIn(value: string): string[] {
  const token = /^\S+\s+(\S+)$/.exec(value)?.[1];
  return token === undefined ? [value] : [value, token];
}

/** Takes secrets out of a text that is about to be shown. Very short ones cannot be told from other text. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 6)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
