import * as fc from 'fast-check';
import { checkAnswer } from 'mcp-parley/client';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../src/terminal/drawing/text-layout.js';
import { form } from '../questions.js';
import { KEYS } from '../screen.js';
import { CHOICES, open, TEXTS } from './opened.js';

const { enter } = KEYS;

describe('whatever is asked, typed and how large the window is', () => {
  const field = fc.constantFrom(...TEXTS, ...CHOICES);
  const question = fc
    .tuple(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.array(fc.tuple(field, fc.boolean()), { maxLength: 4 }),
    )
    .map(([message, fields]) =>
      form(
        message,
        Object.fromEntries(fields.map(([each], index) => [`field${index}`, each])),
        fields.flatMap(([, isRequired], index) => (isRequired ? [`field${index}`] : [])),
      ),
    );
  const key = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...Object.values(KEYS).filter((each) => each !== KEYS.escape)) },
    { weight: 3, arbitrary: fc.constant(enter) },
    { weight: 1, arbitrary: fc.constant('esc') },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        'a',
        'y',
        ' ',
        '2',
        '-',
        '@',
        'x.y',
        '2026-01-01',
        'ann@example.com',
        'ab',
        '日本',
      ),
    },
  );
  const size = fc.record({
    columns: fc.integer({ min: 1, max: 100 }),
    rows: fc.integer({ min: 1, max: 30 }),
  });

  it('what is drawn fits the window, and what is sent fits the form', () => {
    fc.assert(
      fc.property(question, fc.array(key, { maxLength: 40 }), size, (asked, keys, window) => {
        const page = open(asked);
        for (const each of ['', ...keys]) {
          if (each === 'esc') page.press('escape');
          else page.type(each);
          const { lines, cursor } = page.draw(window);
          expect(lines.length).toBeLessThanOrEqual(window.rows);
          for (const { text } of lines) expect(columnsOf(text)).toBeLessThanOrEqual(window.columns);
          expect(cursor.row).toBeLessThan(Math.max(1, lines.length));
          expect(cursor.column).toBeLessThan(window.columns);
        }
        if (page.answer() !== undefined)
          expect(checkAnswer(asked, page.answer())).toMatchObject({ type: 'fits' });
      }),
      { numRuns: 300 },
    );
  });
});
