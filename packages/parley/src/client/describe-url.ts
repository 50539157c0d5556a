import { decodePunycode } from './punycode.js';

/** Something about a URL that a person should know before it is opened. */
export type UrlWarning =
  /** It is no URL, or hides characters that a browser drops. Not opened. */
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
  /** A host of this machine, or of a private network. */
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
  const hidden = Array.from(text, (character) => character.codePointAt(0) ?? 0).some(
    (code) => code <= 0x20 || code === 0x5c || (code >= 0x7f && code <= 0xa0),
  );
  if (!URL.canParse(text) || hidden) {
    return { url: escaped(text), host: '', warnings: ['malformed'], openable: false };
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { url: escaped(url.href), host: url.host, warnings: ['scheme'], openable: false };
  }
  const name = url.hostname.replace(/\.$/, '');
  const address = addressOf(name);
  const labels = name.split('.').filter((label) => label.startsWith('xn--'));
  const warnings: UrlWarning[] = [];
  if (url.protocol === 'http:') warnings.push('not-https');
  if (url.username !== '' || url.password !== '') warnings.push('user-info');
  if (labels.length > 0) warnings.push('punycode');
  if (labels.some((label) => mixesScripts(decodePunycode(label.slice(4))))) warnings.push('mixed-scripts');
  if (address !== undefined) warnings.push('ip-address');
  if (isPrivate(name, address)) warnings.push('private-address');
  if (url.port !== '') warnings.push('port');
  return {
    url: url.href,
    host: url.host,
    warnings,
    openable: url.protocol === 'https:' || isLoopback(name, address),
  };
}

/** Numbers of an IPv4 address, or the text of an IPv6 one. `URL` has brought both into one form: `0x7f.1` too. */
type Address = readonly number[] | string;

function addressOf(name: string): Address | undefined {
  if (/^\d+(?:\.\d+){3}$/.test(name)) return name.split('.').map(Number);
  if (!name.startsWith('[')) return undefined;
  const text = name.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(text);
  if (mapped === null) return text;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255];
}

function isLoopback(name: string, address: Address | undefined): boolean {
  if (address === undefined) return name === 'localhost' || name.endsWith('.localhost');
  return typeof address === 'string' ? address === '::1' : address[0] === 127;
}

const PRIVATE_NAMES = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)$/;

function isPrivate(name: string, address: Address | undefined): boolean {
  if (address === undefined) return !name.includes('.') || PRIVATE_NAMES.test(name);
  if (typeof address === 'string') return /^(?:::1?$|f[cd]|fe[89ab])/.test(address);
  const [a = 0, b = 0] = address;
  return (
    [0, 10, 127].includes(a) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254) ||
    (a === 100 && b >= 64 && b < 128)
  );
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
