/** Secrets that grant access or pay (FORM-21), by the words that ask for them. */
const ASKING: readonly (readonly [string, RegExp])[] = [
  ['a password', /\b(?:passwords?|passphrase|passcode|passwd)\b/],
  [
    'a PIN',
    /\b(?:(?:your|account|card|security|enter|the) pin(?: code| number)?|pin code|pin number)\b(?! (?:a|an|the|this|it|to)\b)|^pin$/,
  ],
  ['an API key', /\b(?:api|access|private|secret|signing|ssh|encryption) ?keys?\b/],
  ['a secret', /\b(?:client secret|api secret|shared secret|secret (?:value|token|phrase))\b|^secret$/],
  [
    'a token',
    /\b(?:access|api|auth|authentication|bearer|refresh|session|personal access|id) ?tokens?\b|^token$/,
  ],
  ['credentials', /\bcredentials\b/],
  [
    'a card number',
    /\b(?:(?:credit|debit|payment|bank) ?card(?: ?(?:number|no))?|card ?(?:number|no))\b|^pan$/,
  ],
  ['a card’s security code', /\b(?:cvv2?|cvc2?|card verification|card security code)\b/],
  ['a social security number', /\b(?:ssn|social security (?:number|no))\b/],
  [
    'a one-time code',
    /\b(?:otp|one[ -]time (?:code|password|passcode)|2fa code|mfa code|totp|verification code)\b/,
  ],
  ['a recovery phrase', /\b(?:recovery phrase|seed phrase|mnemonic|recovery code)\b/],
  ['a private account number', /\b(?:iban and pin|account password)\b/],
];

/** Before the secret's name, these say that it is not to be given. */
const NOT_GIVEN = /\b(?:without|never|not|no|don t|reset|change|rotate|forgot)\b/;

/** After it, these say that something about it is asked for. */
const ABOUT_IT = /^(?:expiry|length|policy|manager|count|limit|name|type|label|rules?)\b/;

/** More than a person reads, in characters. */
const MOST_READ = 10_000;

/** The kind of secret that a text asks for; undefined if for none. */
export function secretAskedIn(text: string): string | undefined {
  for (const sentence of text.slice(0, MOST_READ).split(/[.!?;:\n]+/)) {
    const words = wordsOf(sentence);
    const found = ASKING.find(([, pattern]) => {
      const match = pattern.exec(words);
      if (!match) return false;
      const before = words.slice(0, match.index).trim().split(' ').slice(-4).join(' ');
      const after = words.slice(match.index + match[0].length).trim();
      return !NOT_GIVEN.test(before) && !ABOUT_IT.test(after);
    });
    if (found) return found[0];
  }
  return undefined;
}

/** Its words in small letters, those of names in any case style too. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
