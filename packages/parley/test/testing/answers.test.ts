import { describe, expect, it } from 'vitest';
import { asWireAnswer } from '../../src/testing/answers.js';
import { cancel, decline, wire, type KeyedQuestion, type QuestionKind } from '../../src/testing/index.js';

const asked = (kind: QuestionKind): KeyedQuestion => ({
  key: 'q',
  question: { kind, method: 'elicitation/create', params: {} },
});

describe('asWireAnswer', () => {
  it('takes an object for the content of a form, and for the result of everything else', () => {
    expect(asWireAnswer({ a: 1 }, asked('form'))).toEqual({ action: 'accept', content: { a: 1 } });
    expect(asWireAnswer({ a: 1 })).toEqual({ action: 'accept', content: { a: 1 } });
    expect(asWireAnswer({ roots: [] }, asked('roots'))).toEqual({ roots: [] });
    expect(asWireAnswer({ role: 'user' }, asked('sampling'))).toEqual({ role: 'user' });
    expect(asWireAnswer({}, asked('url'))).toEqual({ action: 'accept' });
  });

  it('takes a boolean for a confirmation', () => {
    expect(asWireAnswer(true, asked('form'))).toEqual({ action: 'accept', content: { confirm: true } });
    expect(asWireAnswer(false, asked('form'))).toEqual({ action: 'accept', content: { confirm: false } });
  });

  it('does not take a no for consent to open a page', () => {
    expect(asWireAnswer(false, asked('url'))).not.toMatchObject({ action: 'accept' });
  });

  it('sends what the helpers say, whatever was asked', () => {
    for (const kind of ['form', 'url', 'sampling', 'roots'] as const) {
      expect(asWireAnswer(decline(), asked(kind))).toEqual({ action: 'decline' });
      expect(asWireAnswer(cancel(), asked(kind))).toEqual({ action: 'cancel' });
      expect(asWireAnswer(wire('anything'), asked(kind))).toBe('anything');
      expect(asWireAnswer(wire(undefined), asked(kind))).toBeUndefined();
    }
  });
});
