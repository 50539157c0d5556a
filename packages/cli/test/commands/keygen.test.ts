import { describe, expect, it } from 'vitest';
import { keygen } from '../../src/commands/keygen.js';

function keygenInto(count: number, isTerminal: boolean) {
  let out = '';
  let err = '';
  let made = 0;
  const generateKey = () => `parley_key_${(made += 1)}`;
  keygen({ count }, { generateKey, out: (text) => (out += text), err: (text) => (err += text), isTerminal });
  return { out, err };
}

describe('keygen', () => {
  it('prints one key and nothing else', () => {
    expect(keygenInto(1, false)).toEqual({ out: 'parley_key_1\n', err: '' });
  });

  it('prints as many as asked, one a line', () => {
    expect(keygenInto(3, false)).toEqual({ out: 'parley_key_1\nparley_key_2\nparley_key_3\n', err: '' });
  });

  it('tells a person at a terminal what to do with it, on stderr, in one line', () => {
    const { out, err } = keygenInto(1, true);
    expect(out).toBe('parley_key_1\n');
    expect(err).toMatch(/^[^\n]*PARLEY_KEYS[^\n]*all instances[^\n]*\n$/);
  });
});
