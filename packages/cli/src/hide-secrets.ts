/**
 * Errors about the command line quote what was typed, and that may be a token or a key in the wrong place. Leaves the
 * names of options, and words that are too short for either.
 */
export function hideSecrets(message: string): string {
  return message.replaceAll(/'(--[a-z][a-z-]{0,20}|-[a-z])?([^']*)'/gi, (_, option?: string, rest = '') =>
    option === undefined && rest.length < 24 ? `'${rest}'` : `'${option ?? '…'}'`,
  );
}

/**
 * What a variable that holds a secret is called in messages. Somebody may have put the secret itself there: what does
 * not look like the name of a variable is not repeated.
 */
export function variableName(name: string): string {
  return /^[A-Z][A-Z\d_]{0,63}$/.test(name) ? name : 'The variable';
}
