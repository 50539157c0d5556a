import type { FormField, FormQuestion } from 'mcp-parley/client';
import { FormPage } from '../../../src/terminal/form/form-page.js';
import { KeyReader } from '../../../src/terminal/keyboard/keys.js';
import { COUNTRIES, THEME } from '../questions.js';

const SIZE = { columns: 80, rows: 24 };

/** A form at work: keys go in, what is drawn and the answer come out. */
export function open(question: FormQuestion) {
  const page = new FormPage(question, { serverName: 'releases', theme: THEME });
  let answer: unknown;
  const reader = new KeyReader((keys) => {
    for (const key of keys) answer ??= page.press(key);
  });
  return {
    type: (...keys: readonly string[]) => {
      for (const key of keys) reader.write(Buffer.from(key));
      reader.end();
    },
    press: (name: 'escape') => void (answer ??= page.press({ type: 'key', name })),
    draw: (size = SIZE) => page.draw(size),
    text: () =>
      page
        .draw(SIZE)
        .lines.map(({ text }) => text)
        .join('\n'),
    answer: () => answer,
  };
}

/** Fields that are typed, */
export const TEXTS: FormField[] = [
  { type: 'string' },
  { type: 'string', minLength: 2, maxLength: 4, title: 'Short', description: 'Not long\nat all.' },
  { type: 'string', format: 'date', default: '2026-03-09' },
  { type: 'string', format: 'date-time' },
  {
    type: 'string',
    format: 'email',
    title: 'Your password, and more words than any window has columns for them',
  },
  { type: 'string', default: 'a\u001b[31m\nb' },
  { type: 'integer', minimum: 1, maximum: 3 },
  { type: 'number' },
];

/** and fields to choose in. */
export const CHOICES: FormField[] = [
  { type: 'boolean', default: true },
  { type: 'boolean' },
  { type: 'string', enum: ['a', 'b', 'c'], default: 'b' },
  {
    type: 'string',
    oneOf: [{ const: '', title: 'A title that is rather long and goes on and on until it ends' }],
  },
  { type: 'string', enum: COUNTRIES },
  { type: 'array', items: { type: 'string', enum: COUNTRIES }, maxItems: 2 },
  { type: 'array', minItems: 1, items: { anyOf: [{ const: 'x', title: '日本語の題名がここにあります' }] } },
];
