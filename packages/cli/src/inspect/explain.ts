import type { ForeignCharacter, UnopenedToken } from 'mcp-parley/inspect';

/** Ids that are listed at most. */
const MOST_IDS = 8;

/** Why a token does not open, and what to look at. Holds nothing of the token but the id of its key. */
export function explain(token: UnopenedToken): string {
  switch (token.reason) {
    case 'not_a_string':
      return 'The requestState there is no text. Servers reject it (not_a_string).';
    case 'too_long':
      return (
        `The token has ${token.length} characters, and ${token.limit} are looked at. A server with default limits rejects ` +
        `more than 65536 (too_long; limits.stateBytes raises that). Look into it with --max-length ${token.length}.`
      );
    case 'malformed':
      return `${explainFault(token)} Servers reject it (malformed).`;
    case 'unknown_key':
      return (
        `The token names the key ${token.keyId}, which is not among those given (${idsOf(token.ring)}). It was sealed ` +
        'with another key or for another audience: ids depend on both, so these cannot be told apart. Give the keys of ' +
        'the server that made it, and as audience the name of that server, or the audience that its Parley was made ' +
        'with. If both are right, the first characters of the token were changed. Servers with this ring reject it ' +
        '(unknown_key).'
      );
    case 'commitment':
      return changed(token.keyId, 'its salt or its commitment', 'commitment');
    case 'authentication':
      return changed(token.keyId, 'its nonce, its contents or its tag', 'authentication');
    case 'claims':
      return (
        `The token is authentic, under the key ${token.keyId}, and its contents cannot be read: another version of ` +
        'Parley made it, or something else that has the key. Servers of this version reject it (claims).'
      );
  }
}

function changed(keyId: string, part: string, reason: string): string {
  return (
    `The token names the key ${keyId}, which was given, and does not open with it: ${part} was changed after it was ` +
    `sealed. Was it cut, or mixed with another one, when it was copied? Servers reject it (${reason}).`
  );
}

function explainFault(token: Extract<UnopenedToken, { readonly reason: 'malformed' }>): string {
  switch (token.fault) {
    case 'foreign':
      return 'This is no token of Parley: those begin with parley1. and this does not.';
    case 'other_format':
      return `This is a token of format ${token.format}, which this version of parley cannot read: it reads parley1.`;
    case 'character':
      return `The token is not as it was made: its character ${token.at + 1} is ${CHARACTERS[token.found]}`;
    case 'length':
      return 'The token is not as it was made: it has a character too many, or some are missing.';
    case 'last_character':
      return 'The token is not as it was made: its last character was changed, and is not canonical base64url.';
    case 'cut_off':
      return `The token was cut off: it has ${token.bytes} bytes behind its prefix, and the shortest has 80.`;
  }
}

const CHARACTERS: Readonly<Record<ForeignCharacter, string>> = {
  padding: '=, a padding that tokens do not have. It was encoded again.',
  standard_base64: '+ or /, of the base64 that is not for URLs. It was encoded again.',
  white_space: 'white space. Was it broken over lines when it was copied?',
  other: 'one that no token has.',
};

function idsOf(ring: readonly string[]): string {
  const shown = ring.slice(0, MOST_IDS).join(', ');
  return ring.length > MOST_IDS ? `${shown} and ${ring.length - MOST_IDS} more` : shown;
}
