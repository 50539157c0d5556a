import { describe, expect, it } from 'vitest';
import { describeOwnFault } from '../src/own-fault.js';

describe('an error that nothing expected', () => {
  it('is told by its kind and its place, without its message', () => {
    const text = describeOwnFault(new TypeError('token-0123456789\n    at token-0123456789\u001b[2J'));
    expect(text).toMatch(
      /^parley: This is a fault of parley itself \(TypeError\)\.\n {4}at .*own-fault\.test/,
    );
    expect(text).not.toContain('token');
    expect(text.trim().split('\n').length).toBeLessThan(12);
  });

  it('may be no error at all', () => {
    expect(describeOwnFault('token-0123456789')).toBe('parley: This is a fault of parley itself (string).\n');
  });
});
