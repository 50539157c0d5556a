import { describe, expect, it } from 'vitest';
import { form } from '../questions.js';
import { KEYS } from '../screen.js';
import { CHOICES, open, TEXTS } from './opened.js';

const { enter, up, down } = KEYS;

describe('a form', () => {
  it('sends what was filled in, after a review (FORM-25)', () => {
    const page = open(form('Hello', { name: { type: 'string' }, sure: { type: 'boolean' } }));
    page.type('Ann', enter, up, enter);
    expect(page.answer()).toBeUndefined();
    expect(page.text()).toMatch(/name +Ann\n.*sure +yes/);
    page.type(enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { name: 'Ann', sure: true } });
  });

  it('does not say yes by Enter alone, unless the default is yes', () => {
    const page = open(form('?', { a: { type: 'boolean' }, b: { type: 'boolean', default: true } }));
    page.type(enter, enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { a: false, b: true } });
  });

  it('starts with the defaults that fit (FORM-17)', () => {
    const page = open(
      form(
        '?',
        {
          text: { type: 'string', default: 'as is' },
          empty: { type: 'string', default: '' },
          count: { type: 'integer', default: 3 },
          unfit: { type: 'integer', maximum: 1, default: 3 },
          one: { type: 'string', enum: ['a', 'b'], default: 'b' },
          some: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, default: ['c', 'a'] },
        },
        ['text', 'empty', 'count', 'one', 'some'],
      ),
    );
    page.type(enter, enter, enter, enter, enter, enter, enter);
    expect(page.answer()).toEqual({
      action: 'accept',
      content: { text: 'as is', empty: '', count: 3, one: 'b', some: ['a', 'c'] },
    });
  });

  it('leaves out every optional field for which Enter alone is pressed', () => {
    const fields = Object.fromEntries(
      [...TEXTS, ...CHOICES]
        .filter((field) => field.default === undefined)
        .map((field, index) => [`f${index}`, field]),
    );
    const page = open(form('?', fields, []));
    page.type(...Array.from({ length: Object.keys(fields).length + 1 }, () => enter));
    expect(page.answer()).toEqual({ action: 'accept', content: {} });
  });

  it('goes back field by field, and keeps what was typed, also where it does not fit yet', () => {
    const page = open(form('?', { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'string' } }));
    page.type('one', enter, '12', enter, 'thr');
    page.press('escape');
    page.type('x');
    page.press('escape');
    expect(page.text()).toContain('› one');
    page.type('!', enter);
    expect(page.text()).toContain('› 12x');
    page.type(enter);
    expect(page.text()).toContain('It must be a number');
    page.type(KEYS.backspace, enter);
    expect(page.text()).toContain('› thr');
    page.type('ee', enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { a: 'one!', b: 12, c: 'three' } });
  });

  it('changes a field from the review, and comes back to it', () => {
    const page = open(form('?', { a: { type: 'string' }, b: { type: 'string' } }));
    page.type('one', enter, 'two', enter, up, up, enter);
    expect(page.text()).toContain('Field 1 of 2');
    page.type('!', enter);
    expect(page.text()).toMatch(/a +one!/);
    page.type(enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { a: 'one!', b: 'two' } });
  });

  it('never sends a field that was changed to something that does not fit', () => {
    const page = open(form('?', { a: { type: 'string' }, b: { type: 'integer' } }));
    page.type('x', enter, '1', enter);
    page.press('escape');
    page.type('z');
    page.press('escape');
    page.type(enter);
    expect(page.text()).toContain('Field 2 of 2');
    page.type(enter, enter, enter);
    expect(page.answer()).toBeUndefined();
  });

  it('says that there is nothing before the first field', () => {
    const page = open(form('?', { a: { type: 'string' } }));
    page.press('escape');
    expect(page.text()).toContain('There is nothing before this.');
    page.type('x');
    expect(page.text()).not.toContain('There is nothing before this.');
  });

  it.each([
    ['decline', [down]],
    ['cancel', [down, down]],
  ] as const)('offers to %s in the review (FORM-24)', (action, keys) => {
    const page = open(form('?', { a: { type: 'string' } }));
    page.type('x', enter, ...keys, enter);
    expect(page.answer()).toEqual({ action });
  });

  it('without fields is still reviewed', () => {
    const page = open(form('Go on?', {}));
    expect(page.text()).toContain('There is nothing to fill in.');
    page.press('escape');
    expect(page.text()).toContain('There is nothing before this.');
    page.type(enter);
    expect(page.answer()).toEqual({ action: 'accept', content: {} });
  });

  it('warns of a field that asks for a secret (FORM-21)', () => {
    const page = open(form('?', { password: { type: 'string' } }));
    expect(page.text()).toContain('▲ This seems to ask for a secret.');
  });

  it('puts a bar before each line that a server wrote, and before no other', () => {
    const fake = '\u001b[2K\r◆ releases asks\n  › Send to releases\n\n  Field 1 of 1 · required';
    const page = open(
      form(fake, {
        a: { type: 'string', title: fake, description: fake, oneOf: [{ const: fake, title: fake }] },
      }),
    );
    const lines = page.text().split('\n');
    const theirs = lines.filter((line) => line.startsWith('┃'));
    const ours = lines.filter((line) => !line.startsWith('┃'));
    expect(ours.join('\n')).toMatchInlineSnapshot(`
      "◆ releases asks

        Field 1 of 1 · required · choose one

        Enter next · Ctrl-D decline · Ctrl-C cancel · ↑↓ choose"
    `);
    expect(theirs).toHaveLength(lines.length - 5);
  });
});
