import { scalarsOf } from './rewrite.js';

/** Something that a state should not show: where, and of what kind. Never the value. */
export interface Revealed {
  readonly field: string;
  readonly kind: string;
}

const PATTERNS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['an e-mail address', /[^\s@<>"']+@[^\s@<>"']+\.[a-z]{2,}/i],
  ['a bearer token', /\bbearer\s+\S{8,}/i],
  ['an API key', /\b(?:sk|pk|rk)[-_][\w-]{16,}/],
  ['a GitHub token', /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,})/],
  ['an AWS key', /\bAKIA[\dA-Z]{16}\b/],
  ['a JWT', /\beyJ[\w-]{6,}\.eyJ[\w-]{6,}\.[\w-]*/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];

/** Names of fields that hold a secret, whatever it looks like. */
const SECRET_NAME =
  /^(?:.*[_-])?(?:password|passwd|passphrase|pwd|secret|client_?secret|api_?key|private_?key|access_?token|refresh_?token|auth_?token|credentials?|cvv|cvc|ssn|pin)$/i;

/** So much of a text is looked at, in characters: patterns are slow on what no honest state holds. */
const MOST_READ = 4096;

/** Shorter values stand in a state by chance. */
const MIN_KNOWN = 6;

/**
 * What a readable value reveals.
 *
 * @param known Values that came from the user, such as the answers of earlier rounds.
 * @param headerIn Names the header of the caller whose value stands in a text.
 */
export function secretsIn(
  value: unknown,
  known: readonly string[] = [],
  headerIn: (text: string) => string | undefined = () => undefined,
): readonly Revealed[] {
  const answers = known.filter(({ length }) => length >= MIN_KNOWN);
  return scalarsOf(value).flatMap(({ path, scalar }) => {
    if (typeof scalar !== 'string' && typeof scalar !== 'number') return [];
    const text = String(scalar).slice(0, MOST_READ);
    const header = headerIn(text);
    const kind = header === undefined ? kindOf(path, text, answers) : `the value of the header ${header}`;
    return kind === undefined ? [] : [{ field: path.join('.') || 'its text', kind }];
  });
}

function kindOf(
  path: readonly (string | number)[],
  text: string,
  answers: readonly string[],
): string | undefined {
  const name = path.findLast((step) => typeof step === 'string');
  if (name !== undefined && text !== '' && SECRET_NAME.test(snakeCased(name))) return 'a secret by its name';
  const pattern = PATTERNS.find(([, expression]) => expression.test(text));
  if (pattern !== undefined) return pattern[0];
  if (holdsCardNumber(text)) return 'a card number';
  return answers.some((answer) => text.includes(answer)) ? 'an answer that was given before' : undefined;
}

function snakeCased(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2');
}

/** Begins as cards do, which times in milliseconds do not, and its check digit is right. */
function holdsCardNumber(text: string): boolean {
  const groups = text.match(/(?<![\d.])[2-6](?:[ -]?\d){12,18}(?![\d.])/g) ?? [];
  return groups.some((group) => luhn(group.replaceAll(/\D/g, '')));
}

function luhn(digits: string): boolean {
  const sum = digits
    .split('')
    .toReversed()
    .reduce((total, digit, at) => {
      const value = at % 2 === 0 ? Number(digit) : Number(digit) * 2;
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
