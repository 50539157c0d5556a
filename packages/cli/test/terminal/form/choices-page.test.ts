import { describe, expect, it } from 'vitest';
import { COUNTRIES, form } from '../questions.js';
import { KEYS } from '../screen.js';
import { open } from './opened.js';

const { enter, up, down } = KEYS;

describe('a choice of several', () => {
  const some = (more: object = {}) =>
    form('?', { it: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, ...more } });

  it('answers in the order of the list, whatever the order of the ticks', () => {
    const page = open(some());
    page.type(down, down, ' ', up, up, ' ', enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { it: ['a', 'c'] } });
  });

  it('asks once more before it answers with none: Enter is easily taken for a tick', () => {
    const page = open(some());
    page.type(enter);
    expect(page.text()).toContain('Nothing is ticked.');
    page.type(enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { it: [] } });
  });

  it('keeps to its bounds, and says so', () => {
    const page = open(some({ minItems: 2, maxItems: 2 }));
    page.type(' ', enter);
    expect(page.text()).toContain('It needs at least 2 choices.');
    page.type(down, ' ', down, ' ');
    expect(page.text()).toContain('It takes at most 2.');
    page.type(enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { it: ['a', 'b'] } });
  });

  it('stays left out, and keeps its ticks, when one only passes by', () => {
    const items = { type: 'string', enum: ['a', 'b'] } as const;
    const page = open(form('?', { out: { type: 'array', items }, some: { type: 'array', items } }, ['some']));
    page.type(enter, ' ', enter);
    for (let times = 0; times < 2; times += 1) page.press('escape');
    page.press('escape');
    expect(page.text()).toContain('Field 1 of 2');
    page.type(enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { some: ['a'] } });
  });

  it('takes the ticks along when one goes back from changed ones', () => {
    const page = open(form('?', { first: { type: 'integer', default: 1 }, ...some().schema.properties }));
    page.type(enter, ' ', enter);
    page.press('escape');
    page.type(down, ' ');
    page.press('escape');
    page.type(enter, enter);
    expect(page.answer()).toEqual({ action: 'accept', content: { first: 1, it: ['a', 'b'] } });
  });

  it('searches while it ticks', () => {
    const page = open(form('?', { it: { type: 'array', items: { type: 'string', enum: COUNTRIES } } }));
    page.type('jap ', KEYS.ctrlU, 'sao ', KEYS.ctrlU, 'unitedk ');
    expect(page.text()).toContain('3 ticked.');
    page.type(enter, enter);
    expect(page.answer()).toEqual({
      action: 'accept',
      content: { it: ['Japan', 'São Tomé', 'United Kingdom'] },
    });
  });
});
