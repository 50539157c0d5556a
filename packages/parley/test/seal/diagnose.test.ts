import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64url } from '../../src/seal/base64url.js';
import { keyIdOf, malformation } from '../../src/seal/diagnose.js';
import { vectors } from './vectors.js';

const token = vectors.tokens.find(({ name }) => name === 'text')?.token ?? '';

describe('keyIdOf', () => {
  it.each(vectors.tokens)('reads the key id that the token "$name" names', ({ token, kid }) => {
    expect(keyIdOf(token)).toBe(kid);
  });
});

describe('malformation', () => {
  it.each([
    ['nothing', '', { fault: 'foreign' }],
    ['a plain text', 'step=2', { fault: 'foreign' }],
    ['a token in quotes', `"${token}"`, { fault: 'foreign' }],
    ['a token behind a space', ` ${token}`, { fault: 'foreign' }],
    ['other letters', token.replace('parley1.', 'Parley1.'), { fault: 'foreign' }],
    ['a later format', token.replace('parley1.', 'parley2.'), { fault: 'other_format', format: 'parley2' }],
    ['a line break at the end', `${token}\n`, { fault: 'character', at: token.length, found: 'white_space' }],
    ['a line break inside', `${token.slice(0, 80)}\r\n${token.slice(80)}`, { at: 80, found: 'white_space' }],
    ['padding', `${token}=`, { fault: 'character', at: token.length, found: 'padding' }],
    ['standard base64', `${token.slice(0, 50)}+${token.slice(51)}`, { at: 50, found: 'standard_base64' }],
    ['an ellipsis', `${token.slice(0, 50)}…${token.slice(51)}`, { at: 50, found: 'other' }],
    ['the prefix alone', 'parley1.', { fault: 'cut_off', bytes: 0 }],
    ['less than all parts', token.slice(0, 8 + 105), { fault: 'cut_off', bytes: 78 }],
    ['a length that no bytes give', token.slice(0, 8 + 121), { fault: 'length' }],
  ])('tells what is wrong with %s', (_, text, expected) => {
    expect(malformation(text)).toMatchObject(expected);
  });

  it('tells a last character that was changed', () => {
    const two = token.slice(0, 8 + 118); // the last character has bits to spare
    const other = Array.from('ABCDEFGH')
      .map((last) => two.slice(0, -1) + last)
      .filter((text) => !canonical(text));
    expect(other.length).toBeGreaterThan(5);
    for (const text of other) expect(malformation(text)).toEqual({ fault: 'last_character' });
  });

  it('finds a fault with every text behind the prefix that is no token, and names a true position', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        fc.pre(!canonical(`parley1.${text}`) || text.length < 107);
        const found = malformation(`parley1.${text}`);
        if (found.fault === 'character') expect(text.charAt(found.at - 8)).not.toMatch(/[\w-]/);
        else expect(text).toMatch(/^[\w-]*$/);
      }),
    );
  });
});

function canonical(text: string): boolean {
  return decodeBase64url(text.slice(8)) !== undefined;
}
