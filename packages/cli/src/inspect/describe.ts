import type { OpenedToken } from 'mcp-parley/inspect';
import { harmlessLine } from '../safe-text.js';
import { contentsOf } from './describe-contents.js';
import { named, nameOf } from './layout.js';
import { ageOf, dateOf } from './time-words.js';

/** Of a digest, enough to compare by eye. */
const DIGEST_DIGITS = 12;

/**
 * What a token says of itself, for people to read. All text from inside the token is made harmless.
 *
 * @param now in ms since 1970
 */
export function describeToken(token: OpenedToken, now: number): string {
  const claims = claimsOf(token, now).map(([name, text]) => named(name, text));
  return `${[...claims, ...contentsOf(token.contents)].join('\n')}\n`;
}

function claimsOf(token: OpenedToken, now: number): (readonly [name: string, text: string])[] {
  const { key, fits, version, trace, questions, waits } = token;
  const role = key.seals ? 'the one that seals now' : 'not the one that seals now';
  return [
    ['Token', `${token.bytes} bytes, of a ${token.kind === 'flow' ? 'flow' : 'handler written by hand'}`],
    ['Key', `${key.id}, number ${key.position + 1} of the ring, ${role}`],
    ['Flow', token.flow],
    ['Round', `${token.round}${waits > 0 ? `, of which ${waits} asked nothing and only waited` : ''}`],
    ['Issued', `${dateOf(token.issued)}, ${ageOf(token.issued, now)}`],
    ['Expires', `${dateOf(token.expires)}, ${endOf(token.expires, now, 'expired')}`],
    ['Deadline', `${dateOf(token.deadline)}, ${endOf(token.deadline, now, 'passed')}`],
    ['Version', version === undefined ? 'none' : harmlessLine(version)],
    ['Principal', `${principalOf(token.principal)}${fitOf(fits.principal, 'principal')}`],
    ['Request', `${shortened(token.request)}${fitOf(fits.request, 'request')}`],
    ['Trace', trace === undefined ? 'none' : harmlessLine(trace)],
    ['Questions', questions.length === 0 ? 'none' : questions.map(questionOf).join(', ')],
  ];
}

/** A token lives through the ms that it names; the rule is that of a server. */
function endOf(time: number, now: number, past: string): string {
  return now > time ? `${past} ${ageOf(time, now)}` : ageOf(time, now);
}

function principalOf(digest: string | null): string {
  return digest === null ? 'nobody (the caller was not signed in)' : shortened(digest);
}

function shortened(digest: string): string {
  return `${digest.slice(0, DIGEST_DIGITS)}… (digest)`;
}

function fitOf(fits: boolean | undefined, what: string): string {
  if (fits === undefined) return '';
  return fits ? `, that of the ${what} given` : `, NOT that of the ${what} given: rejected there (${what})`;
}

function questionOf({ key, attempts, changes }: OpenedToken['questions'][number]): string {
  const notes = [
    ...(attempts > 0 ? [`${attempts} unusable answer${attempts > 1 ? 's' : ''}`] : []),
    ...(changes > 0 ? [`read differently ${changes} time${changes > 1 ? 's' : ''}`] : []),
  ];
  return nameOf(key) + (notes.length > 0 ? ` (${notes.join(', ')})` : '');
}
