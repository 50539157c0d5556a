import { expect, it } from 'vitest';
import { secretAskedIn } from '../../../src/audit/judge/secret-words.js';

it.each([
  ['Enter your password', 'a password'],
  ['userPassword', 'a password'],
  ['api_key', 'an API key'],
  ['Your GitHub access token, please', 'a token'],
  ['token', 'a token'],
  ['clientSecret', 'a secret'],
  ['Credit card number', 'a card number'],
  ['cardNumber', 'a card number'],
  ['CVV', 'a card’s security code'],
  ['pin', 'a PIN'],
  ['Enter your PIN', 'a PIN'],
  ['Nothing will not be charged. Card number:', 'a card number'],
  ['ssn', 'a social security number'],
  ['Please type the one-time code', 'a one-time code'],
])('%s asks for %s (FORM-21)', (text, secret) => {
  expect(secretAskedIn(text)).toBe(secret);
});

it.each([
  'tokenCount',
  'How many tokens may the summary have?',
  'keyboard layout',
  'Pin a message to the channel?',
  'pinned',
  'E-mail address',
  'Which key of the map?',
  'Never enter your password here',
  'Password length',
  'Reset password for which user?',
  'Secretary',
  'discard',
  'Business card design',
  'primaryKey',
])('%s asks for no secret (FORM-22)', (text) => {
  expect(secretAskedIn(text)).toBeUndefined();
});
