import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { checkLimits, DEFAULT_FLOW_LIMITS } from '../../src/flow/limits.js';

describe('checkLimits', () => {
  it('has the documented defaults', () => {
    expect(checkLimits({ ...DEFAULT_FLOW_LIMITS })).toEqual({
      rounds: 16,
      waits: 256,
      questions: 16,
      answerBytes: 65_536,
      attempts: 3,
    });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3'])(
    'refuses %j and names the limit',
    (value) => {
      expect(() => checkLimits({ attempts: value as number })).toThrow(ConfigurationError);
      expect(() => checkLimits({ attempts: value as number })).toThrow(/limits\.attempts/);
    },
  );
});
