import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FormQuestion, UrlQuestion } from 'mcp-parley/client';
import { describe, expect, it } from 'vitest';
import { AnswersFile } from '../src/answers-file.js';
import { temporaryFolder } from './parley.js';

const path = join(temporaryFolder(), 'answers.json');

function read(content: string): Promise<AnswersFile> {
  writeFileSync(path, content);
  return AnswersFile.read(path);
}

function form(key: string, field = 'text'): FormQuestion {
  const properties = Object.fromEntries([[field, { type: 'string' } as const]]);
  return { key, kind: 'form', message: 'Q?', schema: { type: 'object', properties } };
}

function page(key: string): UrlQuestion {
  return { key, kind: 'url', message: 'Q?', url: 'https://a.example/', host: 'a.example', warnings: [] };
}

describe('a file of answers', () => {
  it.each<[string, string, unknown]>([
    ['content', '{"text":"x"}', { action: 'accept', content: { text: 'x' } }],
    ['no content', '{}', { action: 'accept', content: {} }],
    [
      'an answer of the wire',
      '{"action":"accept","content":{"text":"x"}}',
      { action: 'accept', content: { text: 'x' } },
    ],
    ['a refusal', '{"action":"decline"}', { action: 'decline' }],
    [
      'a refusal with content, which is dropped',
      '{"action":"cancel","content":{"text":"x"}}',
      { action: 'cancel' },
    ],
    [
      'another action, which is content',
      '{"action":"restart"}',
      { action: 'accept', content: { action: 'restart' } },
    ],
    [
      'an action and more, which is content',
      '{"action":"accept","text":"x"}',
      {
        action: 'accept',
        content: { action: 'accept', text: 'x' },
      },
    ],
  ])('takes %s', async (_, value, answer) => {
    const file = await read(`{"q":${value}}`);
    expect(file.takeForm(form('q'))).toEqual(answer);
  });

  it('takes nothing for what it does not hold, not from a prototype either', async () => {
    const file = await read('{"q":{}}');
    for (const key of ['other', '', 'constructor', '__proto__', 'toString']) {
      expect(file.has(key)).toBe(false);
      expect(file.takeForm(form(key))).toBeUndefined();
    }
    expect((await read('{"__proto__":{"text":"x"}}')).takeForm(form('__proto__'))).toMatchObject({
      action: 'accept',
    });
  });

  it('gives each answer once, and those of a list in turn', async () => {
    const file = await read('{"q":[{"text":"1"},{"action":"decline"}],"r":{}}');
    expect(file.takeForm(form('q'))).toMatchObject({ content: { text: '1' } });
    expect(file.leftovers()).toEqual([
      `${path}: "q" has 2 answers, and was asked 1 times.`,
      `${path}: no question "r" was asked.`,
    ]);
    expect(file.takeForm(form('q'))).toEqual({ action: 'decline' });
    expect(file.has('q')).toBe(false);
    expect(file.takeForm(form('q'))).toBeUndefined();
    expect(file.timesTaken('q')).toBe(2);
  });

  it('does not guess whether an action is content, where the form has a field of that name', async () => {
    const file = await read('{"q":[{"action":"decline"},{"action":"decline","content":{}}]}');
    expect(() => file.takeForm(form('q', 'action'))).toThrow(/has a field 'action'|with a field 'action'/);
    expect(file.takeForm(form('q', 'action'))).toEqual({ action: 'decline' });
    const content = await read('{"q":{"action":"accept","content":{"action":"decline"}}}');
    expect(content.takeForm(form('q', 'action'))).toEqual({
      action: 'accept',
      content: { action: 'decline' },
    });
  });

  it('consents to a page in so many words only', async () => {
    expect((await read('{"p":{"action":"accept"}}')).takeUrl(page('p'))).toEqual({ action: 'accept' });
    expect((await read('{"p":{"action":"decline"}}')).takeUrl(page('p'))).toEqual({ action: 'decline' });
    for (const value of ['{}', '{"action":"yes"}', '{"accept":true}']) {
      const file = await read(`{"p":${value}}`);
      expect(() => file.takeUrl(page('p'))).toThrow(/the answer to "p" is for a page to be opened/);
    }
  });

  it('may begin with a byte order mark', async () => {
    expect((await read('\uFEFF{"q":{}}')).has('q')).toBe(true);
  });
});
