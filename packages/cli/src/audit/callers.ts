import type { Target } from '../connect/target.js';
import { variableName } from '../hide-secrets.js';
import { WrongUse } from '../outcome.js';
import { secretsOfHeader, type CallerHeaders, type HeadersOfCallers } from './wire/http-headers.js';
import type { Caller } from './wire/message.js';

/** Options that say who sends. */
export interface CallerOptions {
  /** `name: value` of caller `main`, as typed. */
  readonly as?: readonly string[];
  /** `name: value` of caller `other`. */
  readonly other?: readonly string[];
  /** Name of the environment variable that holds the bearer token of `main`. */
  readonly bearerEnv?: string;
  /** And that of `other`. */
  readonly otherBearerEnv?: string;
}

/** Who there is to send as. */
export interface Callers {
  readonly headers: HeadersOfCallers;
  readonly known: ReadonlySet<Caller>;
  /** Values that must not be shown. */
  readonly secrets: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** What the protocol, or HTTP, sets itself. */
const RESERVED =
  /^(?:accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Reads the callers off the options. No message says more of a header than its name.
 *
 * @throws WrongUse for a header that is none or not the caller's to set, an empty variable, a program, which has one
 * caller only, and a secret that would cross a network in clear text.
 */
export function readCallers(options: CallerOptions, target: Target, env: Env): Callers {
  const main = headersFrom('--as', options.as, '--bearer-env', options.bearerEnv, env);
  const other = headersFrom('--other', options.other, '--other-bearer-env', options.otherBearerEnv, env);
  const headers = { main, other };
  if (main.length + other.length > 0) refuseUnfit(target);
  if (other.length > 0 && JSON.stringify(main) === JSON.stringify(other)) {
    throw new WrongUse('--as and --other are the same: the other caller is to be somebody else.');
  }
  const known = new Set<Caller>(['main']);
  if (other.length > 0) known.add('other');
  // Without headers everybody is nobody in particular.
  if (main.length > 0) known.add('anonymous');
  const secrets = [...main, ...other].flatMap(([, value]) => secretsOfHeader(value));
  return { headers, known, secrets };
}

function refuseUnfit(target: Target): void {
  if (target.type === 'stdio') {
    throw new WrongUse('--as and --other are for servers behind a URL: a program has one caller only.');
  }
  const { protocol, hostname } = new URL(target.url);
  const isHere = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !isHere) {
    throw new WrongUse(
      'The headers would cross the network in clear text: this URL is http, to another machine. Use https.',
    );
  }
}

function headersFrom(
  option: string,
  typed: readonly string[] = [],
  bearerOption: string,
  bearerEnv: string | undefined,
  env: Env,
): CallerHeaders {
  const headers = typed.map((text, index) => readHeader(text, `${option} number ${index + 1}`));
  if (bearerEnv !== undefined)
    headers.push(['Authorization', `Bearer ${tokenFrom(bearerOption, bearerEnv, env)}`]);
  const names = headers.map(([name]) => name.toLowerCase());
  const twice = headers.find(([name], index) => names.indexOf(name.toLowerCase()) !== index);
  if (twice !== undefined) throw new WrongUse(`${option} sets the header ${twice[0]} twice.`);
  return headers;
}

/** `Name: value`, or `Name=value`: a name has neither of the two. */
function readHeader(text: string, what: string): [name: string, value: string] {
  const [, name = '', typed = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*[:=](.*)$/s.exec(text) ?? [];
  if (name === '') throw new WrongUse(`${what} is not of the form 'name: value'.`);
  if (RESERVED.test(name.toLowerCase())) throw new WrongUse(`The header ${name} is not yours to set.`);
  const value = typed.trim();
  // Latin-1 without controls: what HTTP can carry, and no line break.
  if (!/^[\t\u0020-\u007e\u0080-\u00ff]+$/.test(value)) {
    throw new WrongUse(`The header ${name} has no value that HTTP can carry.`);
  }
  return [name, value];
}

function tokenFrom(option: string, name: string, env: Env): string {
  const token = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
  if (token === undefined || !/^[\u0021-\u007e]+$/.test(token)) {
    throw new WrongUse(
      `${variableName(name)} holds no token. ${option} takes the name of a variable that does.`,
    );
  }
  return token;
}
