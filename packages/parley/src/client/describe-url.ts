import { hostKind } from './host-kind.js';
import { decodePunycode } from './punycode.js';

/** Something about a URL that a person should know before it is opened. */
export type UrlWarning =
  /** It is no URL, has no host that there can be, or hides characters that a browser drops. Not opened. */
  | 'malformed'
  /** Another scheme than https and http: `javascript:`, `data:`, `file:` and the like. Not opened. */
  | 'scheme'
  /** Anybody on the way can read and change it. Not opened, unless it stays on this machine. */
  | 'not-https'
  /** What stands before `@` looks like a host and is none. */
  | 'user-info'
  /** A host of other letters than Latin ones, shown in its encoded form. */
  | 'punycode'
  /** A host of letters of several scripts, as those made to be mistaken for another. */
  | 'mixed-scripts'
  /** A host of this machine, of a private network, or of none that the public can reach. */
  | 'private-address'
  /** A number in place of a name. */
  | 'ip-address'
  /** Another port than the scheme's own. */
  | 'port';

/** A URL, as a person must see it before it is opened. */
export interface UrlDescription {
  /** The whole URL, as it would be opened; ASCII only. What is no URL at all is given with escapes. */
  readonly url: string;
  /** Where it leads, with the port; `''` when it leads nowhere. Show it apart, and larger. */
  readonly host: string;
  readonly warnings: readonly UrlWarning[];
  /** Whether it may be opened at all, once the person said yes. */
  readonly openable: boolean;
}

/**
 * Describes a URL that a server asks to open. Nothing is fetched, looked up or opened (client/elicitation, "Safe
 * URL Handling"). Openable is https, and http on this machine (security best practices, "URL Validation"; GAP-36).
 */
export function describeUrl(text: string): UrlDescription {
  const url = HIDDEN.test(text) || !URL.canParse(text) ? undefined : new URL(text);
  if (url === undefined || !isHostName(url.hostname)) {
    return { url: escaped(text), host: '', warnings: ['malformed'], openable: false };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { url: escaped(url.href), host: url.host, warnings: ['scheme'], openable: false };
  }
  const labels = url.hostname.split('.').filter((label) => label.startsWith('xn--'));
  const { isAddress, isLoopback, isPrivate } = hostKind(url.hostname);
  const warnings: UrlWarning[] = [];
  if (url.protocol === 'http:') warnings.push('not-https');
  if (url.username !== '' || url.password !== '') warnings.push('user-info');
  if (labels.length > 0) warnings.push('punycode');
  if (labels.some((label) => mixesScripts(decodePunycode(label.slice(4))))) warnings.push('mixed-scripts');
  if (isAddress) warnings.push('ip-address');
  if (isPrivate) warnings.push('private-address');
  if (url.port !== '') warnings.push('port');
  return {
    url: url.href,
    host: url.host,
    warnings,
    openable: url.protocol === 'https:' || isLoopback,
  };
}

/** Controls, white space and backslashes: a browser drops them, or takes them for something else. */
const HIDDEN = /[\p{Cc} \u00a0\\]/u;

/** Whether a host keeps to the lengths of names (RFC 1035, 2.3.4). `URL` does not look. */
function isHostName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return name.length <= 253 && name.split('.').every((label) => label.length <= 63);
}

/** Scripts that one word may mix, for its language does (UTS 39, "highly restrictive", without its Latin). */
const TOGETHER: readonly RegExp[] = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u,
  /^[\p{Script=Han}\p{Script=Hangul}]+$/u,
  /^[\p{Script=Han}\p{Script=Bopomofo}]+$/u,
];

const SCRIPTS = (
  'Latin Cyrillic Greek Armenian Hebrew Arabic Devanagari Thai Georgian Cherokee ' +
  'Han Hiragana Katakana Hangul Bopomofo'
)
  .split(' ')
  .map((name) => new RegExp(`\\p{Script=${name}}`, 'u'));

function mixesScripts(label: string | undefined): boolean {
  if (label === undefined) return true;
  const letters = label.replaceAll(/[^\p{L}]/gu, '');
  if (TOGETHER.some((scripts) => scripts.test(letters))) return false;
  const known = SCRIPTS.filter((script) => script.test(letters)).length;
  const other = SCRIPTS.reduce((rest, script) => rest.replaceAll(new RegExp(script, 'gu'), ''), letters);
  return known + (other === '' ? 0 : 1) > 1;
}

/** Printable ASCII only: a terminal or a page must not act on what stands there. */
function escaped(text: string): string {
  return text.replaceAll(/[^\u0021-\u007e]/gu, (character) =>
    /[\ud800-\udfff]/u.test(character) ? '%EF%BF%BD' : encodeURIComponent(character),
  );
}
