import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolArguments } from '../../src/arguments/arguments.js';
import { readAssignments } from '../../src/arguments/assignment.js';
import { describeParameter, parametersOf } from '../../src/arguments/parameter.js';

type Schema = Record<string, unknown>;

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    whole: { type: 'integer' },
    number: { type: 'number' },
    flag: { type: 'boolean' },
    list: { type: 'array', items: { type: 'string' } },
    thing: { type: 'object' },
    choice: { enum: ['a', 1, true, null] },
    fixed: { const: 'x' },
    either: { type: ['string', 'number'] },
    numberOrFlag: { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
    maybe: { oneOf: [{ type: 'integer' }, { type: 'null' }] },
    named: { $ref: '#/$defs/na~1me' },
    anything: {},
    loop: { $ref: '#/$defs/loop' },
    far: { $ref: 'https://example.com/schema' },
  },
  $defs: { 'na/me': { type: 'integer' }, loop: { $ref: '#/$defs/loop' } },
};

function given(words: readonly string[], whole?: Schema, inputSchema: Schema = SCHEMA) {
  const rest = whole === undefined ? {} : { whole };
  return toolArguments({ name: 't', inputSchema }, { assignments: readAssignments(words), ...rest });
}

describe('arguments of a tool', () => {
  it.each<[string, unknown]>([
    ['text=', ''],
    ['text=5', '5'],
    ['text=a=b:=c', 'a=b:=c'],
    ['whole=-3', -3],
    ['number=1.5e3', 1500],
    ['flag=true', true],
    ['flag=false', false],
    ['list=["a"]', ['a']],
    ['thing={"a":{}}', { a: {} }],
    ['choice=a', 'a'],
    ['choice=1', 1],
    ['choice=true', true],
    ['choice=null', null],
    ['fixed=x', 'x'],
    ['either=5', '5'],
    ['numberOrFlag=5', 5],
    ['numberOrFlag=true', true],
    ['maybe=5', 5],
    ['named=5', 5],
    ['anything=5', '5'],
    ['loop=5', '5'],
    ['far=5', '5'],
    ['anything:=5', 5],
    ['text:=null', null],
  ])('%s', (word, value) => {
    expect(Object.values(given([word]))).toEqual([value]);
  });

  it.each([
    ['whole=1.5', 'a whole number'],
    ['whole=', 'a whole number'],
    ['whole= 1', 'a whole number'],
    ['whole=0x10', 'a whole number'],
    ['whole=01', 'a whole number'],
    ['whole=9007199254740993', 'a whole number'],
    ['number=NaN', 'a number'],
    ['number=1e999', 'a number'],
    ['flag=yes', 'true or false'],
    ['flag=TRUE', 'true or false'],
    ['list={}', 'a list as JSON'],
    ['list=a', 'a list as JSON'],
    ['thing=[]', 'an object as JSON'],
    ['thing=null', 'an object as JSON'],
    ['choice=b', 'one of "a", 1, true, null'],
    ['numberOrFlag=x', 'a number or true or false'],
  ])('%s is refused: it is to be %s', (word, expected) => {
    expect(() => given([word])).toThrow(`'${word.split('=')[0]}' is to be ${expected}`);
    expect(() => given([word])).toThrow(/\nt takes:\n {2}text: string\n/);
  });

  it('names what is missing, and what is not there', () => {
    const schema = { type: 'object', properties: { env: { type: 'string' } }, required: ['env', 'other'] };
    expect(() => given([], undefined, schema)).toThrow('Missing: env.\nt takes:\n  env: string, required');
    expect(() => given(['evn=x'], undefined, schema)).toThrow(
      `There is no parameter 'evn'. Did you mean env?`,
    );
    expect(() => given(['a=b'], undefined, { type: 'object' })).toThrow('t takes no parameters.');
  });

  it('takes other names where the schema says that there may be some', () => {
    for (const additionalProperties of [true, {}, { type: 'string' }]) {
      expect(given(['a=b'], undefined, { type: 'object', additionalProperties })).toEqual({ a: 'b' });
    }
    expect(() => given(['a=b'], undefined, { type: 'object', additionalProperties: false })).toThrow(
      /no parameter/,
    );
  });

  it('leaves a whole object to the server; name=value wins over it', () => {
    expect(given(['whole=2'], { whole: 1, unknown: [] })).toEqual({ whole: 2, unknown: [] });
    expect(given([], {}, { type: 'object', properties: { a: {} }, required: ['a'] })).toEqual({});
  });

  it('has own members only, whatever they are called', () => {
    const whole = JSON.parse('{"__proto__":{"polluted":1}}') as Schema;
    const merged = given(['constructor:={"a":1}', 'toString=x'], whole);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Object.keys(merged)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(() => given(['__proto__=x'])).toThrow(/no parameter '__proto__'/);
    expect({}).not.toHaveProperty('polluted');
  });

  it('gives what the words said, for every text parameter', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (name, value) => {
        fc.pre(!name.includes('=') && !name.endsWith(':'));
        const properties = Object.fromEntries([[name, { type: 'string' }]]);
        const result = given([`${name}=${value}`], undefined, { type: 'object', properties });
        expect(Object.entries(result)).toEqual([[name, value]]);
      }),
    );
  });
});

describe('a schema that a server sends', () => {
  it.each<[string, Schema]>([
    ['nothing', {}],
    ['no properties', { properties: [] }],
    [
      'properties that are none',
      { properties: { a: null, b: true, c: { type: 5 }, d: { enum: 'x', anyOf: {} } } },
    ],
    ['required that is none', { properties: { a: {} }, required: 'a' }],
    ['references into nowhere', { properties: { a: { $ref: '#/properties/b/c' }, b: { $ref: '#' } } }],
    ['references into prototypes', { properties: { a: { $ref: '#/__proto__/toString' } } }],
  ])('with %s is read without a fault', (_, schema) => {
    for (const parameter of parametersOf(schema)) expect(describeParameter(parameter)).toMatch(/^\w: /);
  });

  it('of any shape is read without a fault', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (properties) => {
        parametersOf({ properties, required: Object.keys(properties) }).map(describeParameter);
      }),
    );
  });

  it('is described in a line for each parameter', () => {
    expect(parametersOf({ ...SCHEMA, required: ['text'] }).map(describeParameter)).toEqual([
      'text: string, required',
      'whole: integer',
      'number: number',
      'flag: boolean',
      'list: array',
      'thing: object',
      'choice: one of a, 1, true, null',
      'fixed: one of x',
      'either: string or number',
      'numberOrFlag: number or boolean',
      'maybe: integer',
      'named: integer',
      'anything: anything',
      'loop: anything',
      'far: anything',
    ]);
    const many = { properties: { a: { enum: Array.from({ length: 40 }, (_, n) => `v${n}`) } } };
    expect(parametersOf(many).map(describeParameter)[0]).toMatch(/v11 and 28 more$/);
  });
});

describe('words that are no arguments', () => {
  it.each([
    [['deploy'], /'deploy' is not of the form name=value/],
    [['=x'], /is not of the form/],
    [[':=1'], /is not of the form/],
    [['a=1', 'a:=1'], /'a' is given twice/],
    [['a:=secret'], /What follows a:= is not JSON/],
    [['a:='], /What follows a:= is not JSON/],
  ])('%j', (words, message) => {
    expect(() => readAssignments(words)).toThrow(message);
  });
});
