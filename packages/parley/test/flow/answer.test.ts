import { describe, expect, it } from 'vitest';
import { ownAnswer, readAnswer } from '../../src/flow/answer.js';
import type { QuestionKind } from '../../src/flow/question.js';

const LIMIT = 1_000;
const kinds: readonly QuestionKind[] = ['form', 'url', 'sampling', 'roots'];
const text = { type: 'text', text: 'hello' };

describe('ownAnswer', () => {
  it('gives own members only: a key may be the name of what every object inherits', () => {
    for (const key of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(ownAnswer({}, key)).toBeUndefined();
      expect(ownAnswer(JSON.parse(`{"${key}":1}`), key)).toBe(1);
    }
  });

  it.each([undefined, null, 'text', 5, true, [1]])('finds nothing in %j (MRTR-S-11)', (answers) => {
    expect(ownAnswer(answers, '0')).toBeUndefined();
    expect(ownAnswer(answers, 'length')).toBeUndefined();
  });
});

describe('readAnswer', () => {
  it.each([undefined, null, 'accept', 5, true, [], [{ action: 'accept' }], {}])(
    'counts %j as absent for every kind (MRTR-S-11)',
    (raw) => {
      for (const kind of kinds) expect(readAnswer(kind, raw, LIMIT)).toBeUndefined();
    },
  );

  it('CORE-10: an answer of another kind counts as absent', () => {
    const elicited = { action: 'accept', content: {} };
    const sampled = { role: 'assistant', content: text, model: 'm' };
    const roots = { roots: [{ uri: 'file:///a' }] };
    const readable: Readonly<Record<QuestionKind, readonly unknown[]>> = {
      form: [elicited],
      url: [elicited],
      sampling: [sampled],
      roots: [roots],
    };
    for (const kind of kinds) {
      for (const raw of [elicited, sampled, roots]) {
        expect(readAnswer(kind, raw, LIMIT) !== undefined).toBe(readable[kind].includes(raw));
      }
    }
  });

  it('takes content of an accepted form only (FORM-18)', () => {
    expect(readAnswer('form', { action: 'accept', content: { a: 1 }, more: 1 }, LIMIT)).toStrictEqual({
      action: 'accept',
      content: { a: 1 },
    });
    expect(readAnswer('form', { action: 'accept' }, LIMIT)).toStrictEqual({ action: 'accept' });
    expect(readAnswer('form', { action: 'decline', content: { a: 1 } }, LIMIT)).toStrictEqual({
      action: 'decline',
    });
    expect(readAnswer('form', { action: 'cancel', content: { a: 1 } }, LIMIT)).toStrictEqual({
      action: 'cancel',
    });
    expect(readAnswer('url', { action: 'accept', content: { a: 1 } }, LIMIT)).toStrictEqual({
      action: 'accept',
    });
  });

  it.each(['Accept', 'ok', '', null, 1, ['accept'], undefined])('refuses the action %j', (action) => {
    expect(readAnswer('form', { action, content: {} }, LIMIT)).toBeUndefined();
  });

  it('reads what a model said, reduced to what it may hold', () => {
    expect(
      readAnswer(
        'sampling',
        { role: 'user', content: [text, text], model: 'm', stopReason: 'endTurn', more: 1 },
        LIMIT,
      ),
    ).toStrictEqual({
      result: { role: 'user', content: [text, text], model: 'm', stopReason: 'endTurn' },
    });
    for (const change of [
      { role: 'system' },
      { model: 1 },
      { content: 'x' },
      { content: [] },
      { content: ['x'] },
      { content: [null] },
      { content: {} },
    ]) {
      expect(
        readAnswer('sampling', { role: 'user', content: text, model: 'm', ...change }, LIMIT),
      ).toBeUndefined();
    }
  });

  it('reads roots, which are file URIs (ROOT-04)', () => {
    const raw = {
      roots: [
        { uri: 'file:///a', name: 'A', more: 1 },
        { uri: 'file:///b', name: 5 },
      ],
    };
    expect(readAnswer('roots', raw, LIMIT)).toStrictEqual({
      result: { roots: [{ uri: 'file:///a', name: 'A' }, { uri: 'file:///b' }] },
    });
    for (const roots of [
      {},
      'x',
      [null],
      ['file:///a'],
      [{ uri: 5 }],
      [{ uri: 'https://a' }],
      [{ uri: 'file:///a' }, { uri: 'http://b' }],
    ]) {
      expect(readAnswer('roots', { roots }, LIMIT)).toBeUndefined();
    }
  });

  it('counts what is larger than its limit as absent, in bytes of UTF-8', () => {
    const sized = (value: string) => ({ action: 'accept', content: { a: value } });
    const overhead = JSON.stringify(sized('')).length;
    expect(readAnswer('form', sized('x'.repeat(LIMIT - overhead)), LIMIT)).toBeDefined();
    expect(readAnswer('form', sized('x'.repeat(LIMIT - overhead + 1)), LIMIT)).toBeUndefined();
    expect(readAnswer('form', sized('é'.repeat((LIMIT - overhead) / 2)), LIMIT)).toBeDefined();
    expect(readAnswer('form', sized('é'.repeat((LIMIT - overhead) / 2 + 1)), LIMIT)).toBeUndefined();
    expect(
      readAnswer('form', sized('\u4e2d'.repeat(Math.ceil((LIMIT - overhead) / 3) + 1)), LIMIT),
    ).toBeUndefined();
  });

  it('counts what nests too deep to be written again as absent, instead of throwing', () => {
    const depth = 200_000;
    const raw = JSON.parse(
      `{"action":"accept","content":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
    ) as unknown;
    expect(readAnswer('form', raw, 1_000_000)).toBeUndefined();
  });
});
