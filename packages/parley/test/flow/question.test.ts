import { describe, expect, it } from 'vitest';
import { InvalidQuestion } from '../../src/errors.js';
import {
  formQuestion,
  questionText,
  rootsQuestion,
  samplingQuestion,
  urlQuestion,
  withReason,
} from '../../src/flow/question.js';
import type { RestrictedSchema } from '../../src/form/index.js';
import type { CreateMessageParams } from '../../src/flow/sampling.js';

const NO_FIELDS: RestrictedSchema = { type: 'object', properties: {} };
const ONE_FIELD: RestrictedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };

const url = (address: string) => urlQuestion('q', 'Open', address);

describe('questions', () => {
  it('CORE-07: are bare, and URL-01: name their mode', () => {
    expect(formQuestion('q', 'Which?', ONE_FIELD)).toStrictEqual({
      kind: 'form',
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Which?', requestedSchema: ONE_FIELD },
    });
    expect(url('https://example.com/a?b')).toStrictEqual({
      kind: 'url',
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Open', url: 'https://example.com/a?b' },
    });
    expect(rootsQuestion()).toStrictEqual({ kind: 'roots', method: 'roots/list', params: {} });
  });

  it.each(['', ' ', '\n\t', 5, undefined, null])('FORM-05: refuses the message %j', (message) => {
    expect(() => formQuestion('q', message as string, NO_FIELDS)).toThrow(InvalidQuestion);
    expect(() => urlQuestion('q', message as string, 'https://example.com')).toThrow(InvalidQuestion);
  });

  it.each([
    'https://example.com',
    'https://example.com:8443/x#y',
    'http://localhost',
    'http://localhost:3000/cb',
    'http://127.0.0.1:1/',
    'http://[::1]:8080/',
  ])('GAP-36: takes the URL %s', (address) => {
    expect(url(address).params['url']).toBe(address);
  });

  it.each([
    '',
    'example.com',
    '/path',
    '//example.com',
    'https://',
    'https://exa mple.com',
    'http://example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://192.168.0.1',
    'http://0.0.0.0',
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'blob:https://example.com/x',
    'https://user@example.com',
    'https://user:secret@example.com',
    'https://:secret@example.com',
  ])('GAP-36: refuses the URL %j and does not repeat it', (address) => {
    let message = '';
    try {
      url(address);
    } catch (error) {
      if (!(error instanceof InvalidQuestion)) throw error;
      message = error.message;
    }
    expect(message).toMatch(/^Question 'q' cannot be asked: its url/);
    if (address.length > 7) expect(message).not.toContain(address);
  });

  it.each([
    ' https://example.com',
    'https://example.com\n',
    'https://exam\tple.com',
    'https:\\\\example.com',
    'https:example.com',
  ])('refuses the URL %j, which another parser reads differently: it goes out as it is', (address) => {
    expect(() => url(address)).toThrow(InvalidQuestion);
  });

  it.each<[string, unknown]>([
    ['no messages', { messages: [], maxTokens: 1 }],
    ['messages that are no list', { messages: 'hi', maxTokens: 1 }],
    ['maxTokens of 0', { messages: [{}], maxTokens: 0 }],
    ['a fraction of a token', { messages: [{}], maxTokens: 1.5 }],
    ['maxTokens missing', { messages: [{}] }],
  ])('refuses sampling with %s', (_, params) => {
    expect(() => samplingQuestion('q', params as CreateMessageParams)).toThrow(InvalidQuestion);
  });
});

describe('questionText', () => {
  it('differs in everything that the user sees', () => {
    const texts = [
      formQuestion('q', 'a', NO_FIELDS),
      formQuestion('q', 'b', NO_FIELDS),
      formQuestion('q', 'a', ONE_FIELD),
      url('https://example.com/1'),
      url('https://example.com/2'),
      rootsQuestion(),
    ].map(questionText);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('does not depend on the key', () => {
    expect(questionText(formQuestion('q', 'a', NO_FIELDS))).toBe(
      questionText(formQuestion('other', 'a', NO_FIELDS)),
    );
  });
});

describe('withReason', () => {
  it('tells the reason in the message and leaves the question as it was', () => {
    const question = formQuestion('q', 'Which?', NO_FIELDS);
    expect(withReason(question, `'a' is missing.`).params['message']).toBe(
      `Which?\n\nThe last answer could not be used: 'a' is missing.`,
    );
    expect(question.params['message']).toBe('Which?');
  });

  it('leaves a question without a message alone', () => {
    expect(withReason(rootsQuestion(), 'x')).toEqual(rootsQuestion());
  });
});
