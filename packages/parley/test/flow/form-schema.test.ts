import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { InvalidQuestion } from '../../src/errors.js';
import { restrictedSchema, type FormSchema } from '../../src/flow/form-schema.js';

const convert = (field: z.ZodType) => restrictedSchema('q', z.object({ field })).properties['field'];
const raw = (schema: unknown) => restrictedSchema('q', schema as FormSchema);
const rawField = (field: unknown) => raw({ type: 'object', properties: { field } }).properties['field'];

function refusal(convertIt: () => unknown): string {
  try {
    convertIt();
  } catch (error) {
    if (error instanceof InvalidQuestion) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('restrictedSchema of zod schemas', () => {
  it.each([
    ['a text', z.string(), { type: 'string' }],
    ['a text with bounds', z.string().min(2).max(5), { type: 'string', minLength: 2, maxLength: 5 }],
    ['an e-mail address', z.email(), { type: 'string', format: 'email' }],
    ['a URI', z.url(), { type: 'string', format: 'uri' }],
    ['a date', z.iso.date(), { type: 'string', format: 'date' }],
    ['a date and time', z.iso.datetime({ offset: true }), { type: 'string', format: 'date-time' }],
    ['a number', z.number(), { type: 'number' }],
    ['a number with bounds', z.number().min(0.5).max(2), { type: 'number', minimum: 0.5, maximum: 2 }],
    ['a whole number without the bounds of safe integers', z.int(), { type: 'integer' }],
    ['a whole number with bounds', z.int().min(0).max(9), { type: 'integer', minimum: 0, maximum: 9 }],
    ['a whole number with one bound', z.number().int().min(1), { type: 'integer', minimum: 1 }],
    ['a boolean', z.boolean(), { type: 'boolean' }],
    ['an enum', z.enum(['eu', 'us']), { type: 'string', enum: ['eu', 'us'] }],
    ['a literal', z.literal('eu'), { type: 'string', enum: ['eu'] }],
    ['a literal of several', z.literal(['eu', 'us']), { type: 'string', enum: ['eu', 'us'] }],
    [
      'a union of literals',
      z.union([z.literal('eu'), z.literal('us')]),
      { type: 'string', enum: ['eu', 'us'] },
    ],
    [
      'a union of literals with titles (FORM-13)',
      z.union([z.literal('eu').meta({ title: 'Europe' }), z.literal('us').meta({ title: 'States' })]),
      {
        type: 'string',
        oneOf: [
          { const: 'eu', title: 'Europe' },
          { const: 'us', title: 'States' },
        ],
      },
    ],
    [
      'a choice of several (FORM-14)',
      z
        .array(z.enum(['a', 'b']))
        .min(1)
        .max(2),
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2 },
    ],
    [
      'title and description',
      z.string().meta({ title: 'Name', description: 'Yours' }),
      { type: 'string', title: 'Name', description: 'Yours' },
    ],
    ['a description', z.boolean().describe('Sure?'), { type: 'boolean', description: 'Sure?' }],
    ['a default text', z.string().default('x'), { type: 'string', default: 'x' }],
    ['a default number', z.int().default(3), { type: 'integer', default: 3 }],
    ['a default choice', z.enum(['a', 'b']).default('b'), { type: 'string', enum: ['a', 'b'], default: 'b' }],
    [
      'a default list',
      z.array(z.enum(['a', 'b'])).default(['b']),
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['b'] },
    ],
    ['a transformed text by its input', z.string().transform((text) => text.length), { type: 'string' }],
    ['a refined text', z.string().refine((text) => text !== 'x'), { type: 'string' }],
  ])('converts %s', (_, schema, expected) => {
    expect(convert(schema)).toEqual(expected);
  });

  it('requires what is neither optional nor has a default', () => {
    const schema = z.object({
      a: z.string(),
      b: z.string().optional(),
      c: z.string().default('c'),
      d: z.boolean(),
    });
    expect(restrictedSchema('q', schema).required).toEqual(['a', 'd']);
    expect(restrictedSchema('q', z.object({ a: z.string().optional() }))).not.toHaveProperty('required');
  });

  it('leaves out what the protocol does not have at the root', () => {
    const schema = z.strictObject({ a: z.string() }).meta({ title: 'Form', description: 'Fill in' });
    expect(restrictedSchema('q', schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
  });

  it.each([
    ['a nested object (FORM-08)', z.object({ a: z.string() })],
    ['a list of texts', z.array(z.string())],
    ['a list of objects', z.array(z.object({ a: z.string() }))],
    ['a pattern (FORM-09)', z.string().regex(/^a/)],
    ['two patterns', z.string().regex(/^a/).regex(/b$/)],
    ['an exclusive minimum (FORM-10)', z.number().gt(0)],
    ['an exclusive maximum (FORM-10)', z.number().lt(5)],
    ['multipleOf (FORM-10)', z.number().multipleOf(2)],
    ['an unknown format (FORM-09)', z.uuid()],
    ['a nullable field', z.string().nullable()],
    ['a mixed union', z.union([z.string(), z.number()])],
    ['a literal number', z.literal(5)],
    ['a record', z.record(z.string(), z.string())],
    ['a tuple', z.tuple([z.string()])],
    ['null', z.null()],
    ['anything', z.unknown()],
    ['a date object', z.date()],
    ['a bigint', z.bigint()],
  ])('refuses %s', (_, schema) => {
    expect(refusal(() => convert(schema))).toMatch(/^Question 'q' cannot be asked: /);
  });

  it('refuses references (CORE-25)', () => {
    const shared = z.string().meta({ id: 'parley-form-schema-test' });
    expect(refusal(() => restrictedSchema('q', z.object({ a: shared, b: shared })))).toMatch(/\$(ref|defs)/);
  });

  it.each([
    ['a text', z.string()],
    ['a list', z.array(z.string())],
    ['a union of objects', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ['a record', z.record(z.string(), z.string())],
  ])('refuses a root that is %s (FORM-08)', (_, schema) => {
    expect(refusal(() => raw(schema))).toMatch(/must describe an object with properties/);
  });

  it('tells of a schema library that cannot give JSON Schema', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) },
    };
    expect(refusal(() => raw(schema))).toMatch(/schema library \(other\) cannot give JSON Schema/);
  });

  it('converts a schema once, under whatever key', () => {
    const schema = z.object({ a: z.string() });
    let conversions = 0;
    const counted = {
      '~standard': {
        ...schema['~standard'],
        jsonSchema: {
          input: () => {
            conversions += 1;
            return { type: 'object', properties: { a: { type: 'string' } } };
          },
        },
      },
    };
    expect(restrictedSchema('q', counted as FormSchema)).toBe(
      restrictedSchema('other', counted as FormSchema),
    );
    expect(conversions).toBe(1);
  });
});

describe('restrictedSchema of restricted schemas', () => {
  it.each([
    ['a number with a fraction as default', { type: 'number', default: 0.5 }],
    ['a titled single choice (FORM-13)', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }],
    [
      'a titled choice of several (FORM-15)',
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    ],
    [
      'a plain choice of several (FORM-14)',
      { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['a'] },
    ],
    ['legacy enumNames (FORM-16)', { type: 'string', enum: ['a'], enumNames: ['A'] }],
    ['a boolean with a default (FORM-11)', { type: 'boolean', default: true }],
  ])('takes %s as it is', (_, field) => {
    expect(rawField(field)).toEqual(field);
  });

  it.each([
    ['a nested object (FORM-08)', { type: 'object', properties: {} }],
    ['a list of texts', { type: 'array', items: { type: 'string' } }],
    ['uniqueItems (GAP-32)', { type: 'array', items: { type: 'string', enum: ['a'] }, uniqueItems: true }],
    ['more members of items', { type: 'array', items: { type: 'string', enum: ['a'], minLength: 1 } }],
    ['a list without items', { type: 'array' }],
    ['pattern (FORM-09, GAP-32)', { type: 'string', pattern: '^a' }],
    ['an unknown format (FORM-09)', { type: 'string', format: 'uuid' }],
    ['exclusiveMinimum (FORM-10)', { type: 'number', exclusiveMinimum: 0 }],
    ['exclusiveMaximum (FORM-10)', { type: 'integer', exclusiveMaximum: 0 }],
    ['$ref (CORE-25)', { $ref: 'https://example.com/schema' }],
    ['$ref beside a type', { type: 'string', $ref: '#/x' }],
    ['allOf (FORM-08)', { type: 'string', allOf: [{ minLength: 1 }] }],
    ['a nullable type', { type: ['string', 'null'] }],
    ['type null', { type: 'null' }],
    ['no type', {}],
    ['an inherited name as type', { type: 'constructor' }],
    ['a minLength that is no count', { type: 'string', minLength: -1 }],
    ['a maxItems that is no count', { type: 'array', items: { type: 'string', enum: ['a'] }, maxItems: 1.5 }],
    ['a minimum that is no number', { type: 'number', minimum: '1' }],
    ['an empty enum', { type: 'string', enum: [] }],
    ['an enum of numbers', { type: 'string', enum: [1] }],
    ['an enum of a number', { type: 'number', enum: [1] }],
    ['oneOf without titles', { type: 'string', oneOf: [{ const: 'a' }] }],
    ['a default of another type (FORM-11)', { type: 'boolean', default: 'true' }],
    ['a default fraction of a whole number', { type: 'integer', default: 0.5 }],
    ['a title that is no text', { type: 'string', title: 1 }],
    ['a field that is no schema', true],
  ])('refuses %s', (_, field) => {
    expect(refusal(() => rawField(field))).toMatch(/^Question 'q' cannot be asked: /);
  });

  it.each([
    ['no object', { type: 'string' }],
    ['without properties', { type: 'object' }],
    ['with a list of properties', { type: 'object', properties: [] }],
    [
      'with required unknown fields',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] },
    ],
    [
      'with required inherited names',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['toString'] },
    ],
    [
      'with required that is no list',
      { type: 'object', properties: { a: { type: 'string' } }, required: 'a' },
    ],
    ['with $defs', { type: 'object', properties: {}, $defs: {} }],
    ['with $ref', { type: 'object', properties: {}, $ref: '#' }],
    [
      'with a field named __proto__',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    ],
    ['undefined', undefined],
    ['null', null],
  ])('refuses a root %s', (_, schema) => {
    expect(refusal(() => raw(schema))).toMatch(/^Question 'q' cannot be asked: /);
  });
});

describe('FORM-21: secrets are not asked by form', () => {
  it.each([
    'password',
    'Password',
    'user_password',
    'userPassword',
    'user-password',
    'newPasswordAgain',
    'PASSWORD',
    'token',
    'accessToken',
    'access_token',
    'ACCESS_TOKEN',
    'githubToken',
    'OAuthToken',
    'api_key',
    'apiKey',
    'api-key',
    'API_KEY',
    'apikey',
    'APIKey',
    'stripeApiKey',
    'private_key',
    'privateKey',
    'access-key',
    'clientSecret',
    'client_secret',
    'passphrase',
    'passcode',
    'card_number',
    'cardNumber',
    'creditCard',
    'credit-card',
    'cvv',
    'cvc',
    'card',
    'DBPassword',
    'APIToken',
    'MYSecret',
  ])('refuses a field named %s', (name) => {
    expect(refusal(() => raw({ type: 'object', properties: { [name]: { type: 'string' } } }))).toMatch(
      /elicitUrl/,
    );
    expect(refusal(() => raw(z.object({ [name]: z.string() })))).toMatch(/elicitUrl/);
  });

  it.each([
    'email',
    'username',
    'name',
    'key',
    'tokenizer',
    'secretary',
    'cardinality',
    'keyboard',
    'passport',
    'compass',
    'apiVersion',
  ])('FORM-22: allows a field named %s', (name) => {
    expect(refusal(() => raw({ type: 'object', properties: { [name]: { type: 'string' } } }))).toBe(
      'accepted',
    );
  });
});
