import { describe, expect, it } from 'vitest';
import { run } from '../src/program.js';

/** Runs the command line with everything injected. */
function parley(args: readonly string[], { isTerminal = false, generateKey = () => 'parley_key_TEST' } = {}) {
  let out = '';
  let err = '';
  const code = run(args, {
    version: '1.2.3',
    generateKey,
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTerminal,
  });
  return { code, out, err };
}

describe('parley', () => {
  it('prints its version', () => {
    expect(parley(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  it('prints help with the commands and an example', () => {
    const { code, out, err } = parley(['--help']);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toContain('keygen');
    expect(out).toContain('$ export PARLEY_KEYS="$(parley keygen)"');
  });

  it('prints help for a command, with an example', () => {
    for (const args of [
      ['keygen', '--help'],
      ['help', 'keygen'],
    ]) {
      const { code, out } = parley(args);
      expect(code).toBe(0);
      expect(out).toContain('$ parley keygen --count 2');
    }
  });

  it.each([
    [['keygan'], /unknown command 'keygan'[^]*Did you mean keygen/],
    [['keygen', '--cuont', '2'], /unknown option '--cuont'/],
    [['keygen', 'extra'], /too many arguments/],
    [['keygen', '--count'], /argument missing/],
    [['keygen', '--count', '0'], /whole number from 1 to 1000/],
    [['keygen', '--count', '-1'], /whole number|argument missing|unknown option/],
    [['keygen', '--count', '1e3'], /whole number/],
    [['keygen', '--count', '1001'], /whole number/],
  ])('%j ends with code 2, an error on stderr, and no key', (args, message) => {
    const { code, out, err } = parley(args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).toContain('parley --help');
    expect(out).toBe('');
  });

  it('without a command prints help on stderr and ends with code 2', () => {
    const { code, out, err } = parley([]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: parley');
  });

  it('a failure ends with code 1 and says why', () => {
    const generateKey = () => {
      throw new Error('no randomness');
    };
    expect(parley(['keygen'], { generateKey })).toEqual({ code: 1, out: '', err: 'parley: no randomness\n' });
  });
});
