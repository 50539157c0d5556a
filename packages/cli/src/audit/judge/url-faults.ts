import type { Json } from '../wire/message.js';

/** What is wrong with an address. */
export interface UrlFault {
  readonly verdict: 'weak' | 'broken';
  readonly severity: 'low' | 'medium' | 'high';
  readonly found: string;
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.0\.0\.0$|\[f[cd][\da-f]{2}:|\[fe80:)/;
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]/;
const AUTHENTICATING =
  /^(?:access[_-]?token|auth[_-]?token|id[_-]?token|token|jwt|session|session[_-]?id|sid|api[_-]?key|apikey|password|passwd|secret)$/i;
const JWT = /\beyJ[\w-]{8,4096}\.[\w-]{8,4096}\./;

/** So much of an address is looked through, in characters: more than servers take. */
const MOST_READ = 65_536;

/** Shorter answers turn up by chance. */
const TELLING = 6;

/**
 * Looks at the address of a URL question.
 *
 * @param given texts that the user answered before
 */
export function faultsOfUrl(url: Json | undefined, given: readonly string[]): readonly UrlFault[] {
  const broken = (found: string): UrlFault => ({ verdict: 'broken', severity: 'high', found });
  if (typeof url !== 'string' || !URL.canParse(url)) return [broken('A URL question has no valid URL.')];
  const parsed = new URL(url);
  const { protocol, hostname, username, password, searchParams } = parsed;
  const isLoopback = LOOPBACK.test(hostname);
  const faults: UrlFault[] = [];
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback))
    faults.push(broken(`A URL question sends the user to ${protocol} instead of https.`));
  if (username !== '' || password !== '')
    faults.push(broken('The address of a URL question holds credentials.'));
  if (hostname.split('.').some((label) => label.startsWith('xn--')))
    faults.push({
      verdict: 'weak',
      severity: 'low',
      found: 'The host of a URL question is not plain ASCII.',
    });
  if (!isLoopback && PRIVATE.test(hostname))
    faults.push({
      verdict: 'weak',
      severity: 'medium',
      found: 'A URL question sends the user to a private address.',
    });
  const read = decoded(url);
  if (given.some((text) => text.length >= TELLING && read.includes(text)))
    faults.push(broken('The address of a URL question holds what the user answered before.'));
  if (EMAIL.test(decoded(parsed.pathname + parsed.search + parsed.hash).slice(0, MOST_READ)))
    faults.push({
      verdict: 'weak',
      severity: 'medium',
      found: 'The address of a URL question holds an e-mail address.',
    });
  if (
    [...searchParams.keys()].some((name) => AUTHENTICATING.test(name)) ||
    JWT.test(read.slice(0, MOST_READ))
  )
    faults.push({
      verdict: 'weak',
      severity: 'medium',
      found: 'The address of a URL question looks as if it let in whoever opens it.',
    });
  return faults;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
