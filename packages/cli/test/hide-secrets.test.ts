import { describe, expect, it } from 'vitest';
import { hideSecrets } from '../src/hide-secrets.js';

const TOKEN = `parley1.${'A'.repeat(107)}`;
const KEY = `parley_key_${'A'.repeat(43)}`;

describe('hideSecrets', () => {
  it.each([
    [`error: unknown option '--kez=${KEY}'`, `error: unknown option '--kez'`],
    [`error: unknown option '--kez'`, `error: unknown option '--kez'`],
    [`error: unknown option '-k${KEY}'`, `error: unknown option '-k'`],
    [`error: unknown option '--${KEY}'`, `error: unknown option '--parley'`],
    [
      `error: option '--output <format>' argument '${TOKEN}' is invalid.`,
      `error: option '--output' argument '…' is invalid.`,
    ],
    [
      `error: option '--output <format>' argument 'yaml' is invalid.`,
      `error: option '--output' argument 'yaml' is invalid.`,
    ],
  ])('%s', (message, hidden) => {
    expect(hideSecrets(message)).toBe(hidden);
  });
});
