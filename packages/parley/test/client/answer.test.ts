import { describe, expect, it, vi } from 'vitest';
import {
  checkAnswer,
  InvalidResponse,
  prefill,
  type FormQuestion,
  type Question,
} from '../../src/client/index.js';
import { readForm } from '../../src/client/read-form.js';

function form(properties: Record<string, unknown>, required?: string[]): FormQuestion {
  const schema = readForm('q', { type: 'object', properties, ...(required && { required }) });
  return { key: 'q', kind: 'form', message: '', schema };
}

function check(field: Record<string, unknown>, value: unknown): string {
  return checkAnswer(form({ f: field }), { action: 'accept', content: { f: value } }).type;
}

const TITLED = [
  { const: 'a', title: 'First' },
  { const: 'b', title: 'Second' },
];

describe('answers to forms', () => {
  it.each<[string, Record<string, unknown>, readonly unknown[], readonly unknown[]]>([
    ['text', { type: 'string' }, ['', 'x'], [1, null, true, ['x'], {}]],
    [
      'bounds of a text, in characters',
      { type: 'string', minLength: 1, maxLength: 2 },
      ['x', '😀😀'],
      ['', 'xyz'],
    ],
    ['e-mail', { type: 'string', format: 'email' }, ['a@b.example'], ['a', 'a@b', 'a b@c.example']],
    [
      'uri',
      { type: 'string', format: 'uri' },
      ['https://a.example/x', 'urn:x:y'],
      ['/x', 'a b', 'https:\\a'],
    ],
    ['date', { type: 'string', format: 'date' }, ['2024-02-29'], ['2026-02-30', '2026-1-1', 'today']],
    [
      'date and time',
      { type: 'string', format: 'date-time' },
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+02:00'],
      ['2026-01-01', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00'],
    ],
    [
      'a format that forms do not have',
      { type: 'string', format: 'uuid', pattern: '^x$' },
      ['anything'],
      [1],
    ],
    ['number', { type: 'number', minimum: -1, maximum: 1.5 }, [-1, 0.5, 1.5], [-2, 2, '1', NaN, Infinity]],
    ['integer', { type: 'integer', minimum: 0, exclusiveMinimum: 5 }, [0, 7], [-1, 0.5, '1']],
    ['yes or no', { type: 'boolean' }, [true, false], ['true', 1, null]],
    ['a choice', { type: 'string', enum: ['a', 'b'] }, ['a'], ['c', 'A', ['a']]],
    ['a choice with titles', { type: 'string', oneOf: TITLED }, ['a', 'b'], ['First', 'c']],
    [
      'a choice with the older names',
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      ['a'],
      ['A'],
    ],
    [
      'choices',
      { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
      [['a'], ['c', 'a']],
      [[], ['a', 'b', 'c'], ['a', 'a'], ['x'], 'a', [1]],
    ],
    [
      'choices with titles',
      { type: 'array', items: { anyOf: TITLED } },
      [[], ['b']],
      [['Second'], [{ const: 'a' }]],
    ],
  ])('%s', (_, field, good, bad) => {
    for (const value of good) expect([value, check(field, value)]).toEqual([value, 'fits']);
    for (const value of bad) expect([value, check(field, value)]).toEqual([value, 'faulty']);
  });

  it('what is required must be there, what is not may be left out, and nothing is filled in', () => {
    const question = form({ a: { type: 'string', default: 'x' }, b: { type: 'integer', default: 3 } }, ['a']);
    expect(checkAnswer(question, { action: 'accept', content: {} })).toEqual({
      type: 'faulty',
      reason: "'a' is missing.",
    });
    expect(checkAnswer(question, { action: 'accept', content: { a: 'y' } })).toEqual({
      type: 'fits',
      response: { action: 'accept', content: { a: 'y' } },
    });
    expect(checkAnswer(question, { action: 'accept' })).toMatchObject({ type: 'faulty' });
  });

  it('refuses fields that were not asked for, own and inherited, of any name', () => {
    const question = form({ a: { type: 'string' }, constructor: { type: 'string' } });
    for (const extra of ['{"b":1}', '{"__proto__":{"a":"x"}}', '{"toString":"x"}']) {
      expect(checkAnswer(question, { action: 'accept', content: JSON.parse(extra) })).toMatchObject({
        type: 'faulty',
      });
    }
    const inherited = Object.create({ a: 'x' }) as object;
    expect(checkAnswer(question, { action: 'accept', content: inherited })).toEqual({
      type: 'fits',
      response: { action: 'accept', content: {} },
    });
    expect(checkAnswer(question, { action: 'accept', content: { constructor: 'x' } })).toMatchObject({
      response: { content: { constructor: 'x' } },
    });
    const required = form({ constructor: { type: 'string' } }, ['constructor']);
    expect(checkAnswer(required, { action: 'accept', content: {} })).toMatchObject({ type: 'faulty' });
  });

  it('a refusal has no content, whatever came with it', () => {
    for (const action of ['decline', 'cancel'] as const) {
      expect(checkAnswer(form({}), { action, content: { a: 1 } })).toEqual({
        type: 'fits',
        response: { action },
      });
    }
    for (const answer of [
      undefined,
      null,
      'accept',
      {},
      { action: 'yes' },
      Object.create({ action: 'accept' }),
    ]) {
      expect(checkAnswer(form({}), answer)).toMatchObject({ type: 'faulty' });
    }
  });
});

describe('answers to the other kinds', () => {
  it('consent to a URL is that and nothing more', () => {
    const url = {
      key: 'u',
      kind: 'url',
      message: '',
      url: 'https://a.example/',
      host: '',
      warnings: [],
    } as const;
    expect(checkAnswer(url, { action: 'accept', content: { done: true } })).toEqual({
      type: 'fits',
      response: { action: 'accept' },
    });
  });

  it('sampling and roots must have their shape', () => {
    const sampling: Question = { key: 's', kind: 'sampling', params: { messages: [], maxTokens: 1 } };
    const roots: Question = { key: 'r', kind: 'roots' };
    for (const result of [
      undefined,
      {},
      { role: 'assistant', model: 'm' },
      { role: 'x', model: 'm', content: { type: 'text', text: 'x' } },
      { role: 'assistant', content: { type: 'text', text: 'x' } },
      { role: 'assistant', model: 'm', content: ['x'] },
      // A server takes that for no answer.
      { role: 'assistant', model: 'm', content: [] },
    ]) {
      expect(checkAnswer(sampling, { action: 'accept', result })).toMatchObject({ type: 'faulty' });
    }
    const content = [{ type: 'text', text: 'x' }];
    expect(
      checkAnswer(sampling, { action: 'accept', result: { role: 'assistant', model: 'm', content } }),
    ).toMatchObject({ type: 'fits' });
    for (const list of [undefined, {}, [{}], [{ uri: 'https://a.example' }]]) {
      expect(checkAnswer(roots, { action: 'accept', roots: list })).toMatchObject({ type: 'faulty' });
    }
    expect(checkAnswer(roots, { action: 'accept', roots: [] })).toMatchObject({ type: 'fits' });
    for (const question of [sampling, roots]) {
      expect(checkAnswer(question, { action: 'cancel' })).toEqual({ type: 'unsayable' });
    }
  });
});

describe('what JSON cannot hold', () => {
  const circle: Record<string, unknown> = {
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'x' },
  };
  circle['_meta'] = circle;

  it.each<[string, Question, object]>([
    ['a circle', { key: 's', kind: 'sampling', params: { messages: [], maxTokens: 1 } }, { result: circle }],
    [
      'a BigInt',
      { key: 's', kind: 'sampling', params: { messages: [], maxTokens: 1 } },
      { result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' }, tokens: 1n } },
    ],
    ['a BigInt in a root', { key: 'r', kind: 'roots' }, { roots: [{ uri: 'file:///srv', size: 1n }] }],
  ])('does not leave: %s', (_, question, members) => {
    expect(checkAnswer(question, { action: 'accept', ...members })).toMatchObject({ type: 'faulty' });
  });
});

describe('schemas of servers', () => {
  it('give their defaults to the form, where they fit', () => {
    const question = form({
      text: { type: 'string', default: 'x', maxLength: 3 },
      long: { type: 'string', default: 'xxxx', maxLength: 3 },
      count: { type: 'integer', default: 2 },
      half: { type: 'integer', default: 0.5 },
      sure: { type: 'boolean', default: false },
      pick: { type: 'string', oneOf: TITLED, default: 'b' },
      gone: { type: 'string', enum: ['a'], default: 'z' },
      many: { type: 'array', items: { anyOf: TITLED }, default: ['a'] },
      none: { type: 'string' },
      wrong: { type: 'boolean', default: 'true' },
    });
    expect(prefill(question.schema)).toEqual({ text: 'x', count: 2, sure: false, pick: 'b', many: ['a'] });
  });

  it('keep labels, and the older names where they match', () => {
    const field = {
      type: 'string',
      title: 'T',
      description: 'D',
      enum: ['a'],
      enumNames: ['A'],
      $ref: '#/x',
    };
    expect(form({ f: field }).schema.properties['f']).toEqual({
      type: 'string',
      title: 'T',
      description: 'D',
      enum: ['a'],
      enumNames: ['A'],
    });
    expect(form({ f: { ...field, enumNames: ['A', 'B'] } }).schema.properties['f']).not.toHaveProperty(
      'enumNames',
    );
  });

  it.each<[string, unknown]>([
    ['no schema', undefined],
    ['not of an object', { type: 'array', items: { type: 'string' } }],
    ['no properties', { type: 'object' }],
    ['a nested object', { type: 'object', properties: { f: { type: 'object', properties: {} } } }],
    ['a list of texts', { type: 'object', properties: { f: { type: 'array', items: { type: 'string' } } } }],
    [
      'a list of objects',
      { type: 'object', properties: { f: { type: 'array', items: { type: 'object' } } } },
    ],
    ['a field without a type', { type: 'object', properties: { f: { $ref: '#/x' } } }],
    ['a field of two types', { type: 'object', properties: { f: { type: ['string', 'null'] } } }],
    ['null', { type: 'object', properties: { f: { type: 'null' } } }],
    ['an empty enum', { type: 'object', properties: { f: { type: 'string', enum: [] } } }],
    ['an enum of numbers', { type: 'object', properties: { f: { type: 'string', enum: [1] } } }],
    ['a bound that is a text', { type: 'object', properties: { f: { type: 'number', minimum: '1' } } }],
    [
      'text that cannot be',
      { type: 'object', properties: { f: { type: 'string', minLength: 2, maxLength: 1 } } },
    ],
    [
      'one choice, twice',
      {
        type: 'object',
        properties: { f: { type: 'array', items: { type: 'string', enum: ['a', 'a'] }, minItems: 2 } },
      },
    ],
    ['a negative length', { type: 'object', properties: { f: { type: 'string', minLength: -1 } } }],
    ['a field __proto__', JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')],
    ['required of what is not there', { type: 'object', properties: {}, required: ['toString'] }],
    ['an unknown dialect', { $schema: 'https://example.com/x', type: 'object', properties: {} }],
    [
      'more fields than anybody fills in',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`f${i}`, { type: 'string' }])),
      },
    ],
  ])('that cannot be asked are refused: %s', (_, schema) => {
    expect(() => readForm('q', schema)).toThrow(InvalidResponse);
  });

  it.each<[string, unknown]>([
    ['the form', { type: 'object', properties: {}, $ref: 'https://schemas.example/form.json' }],
    [
      'a field',
      { type: 'object', properties: { f: { type: 'string', $ref: 'https://schemas.example/f.json' } } },
    ],
    ['a path', { type: 'object', properties: { f: { type: 'string', $ref: 'f.json' } } }],
    [
      'choices',
      {
        type: 'object',
        properties: {
          f: {
            type: 'array',
            items: { type: 'string', enum: ['a'], $dynamicRef: 'https://schemas.example/a' },
          },
        },
      },
    ],
  ])('that go on elsewhere are refused, and nothing is fetched: %s (CORE-25)', (_, schema) => {
    const fetched: unknown[] = [];
    vi.stubGlobal('fetch', (url: unknown) => void fetched.push(url));
    try {
      expect(() => readForm('q', schema)).toThrow(/refers to a schema elsewhere/);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(fetched).toEqual([]);
  });

  it('cannot reach a prototype', () => {
    const schema: unknown = JSON.parse(
      '{"type":"object","properties":{"constructor":{"type":"string","__proto__":{"default":"x"},"default":"y"}}}',
    );
    const read = readForm('q', schema);
    expect(Object.getPrototypeOf(read.properties)).toBe(Object.prototype);
    expect(prefill(read)).toEqual({ constructor: 'y' });
    expect(({} as Record<string, unknown>)['default']).toBeUndefined();
  });
});
