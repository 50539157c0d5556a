import type { Question } from 'mcp-parley/client';
import { fileURLToPath } from 'node:url';
import { TSX } from '../parley.js';
import { COUNTRIES, form } from './questions.js';
import { Screen, type ScreenOptions } from './screen.js';

const FIXTURE = fileURLToPath(new URL('fixture.ts', import.meta.url));

/** Asks questions in a terminal, with the handlers alone. */
export function ask(questions: readonly Question[], options: Omit<ScreenOptions, 'args'> = {}): Screen {
  const env = { QUESTIONS: JSON.stringify(questions), ...options.env };
  return new Screen({ ...options, args: ['--import', TSX, FIXTURE], env });
}

/** The answers that it printed. */
export function answersOf(screen: Screen): unknown[] {
  return Array.from(
    screen.raw.matchAll(/answer: (\{.*\})/g),
    ([, json]) => JSON.parse(json ?? '') as unknown,
  );
}

/** A form of one field. */
export const NAME = form('Who are you?', { name: { type: 'string', title: 'Name' } });

/** A form with every type of field. */
export const EVERYTHING = form(
  'Where should build 1.4.2 go? It was tested on staging.',
  {
    region: {
      type: 'string',
      title: 'Region',
      oneOf: [
        { const: 'eu', title: 'Europe' },
        { const: 'us', title: 'United States' },
      ],
    },
    country: { type: 'string', title: 'Country', enum: COUNTRIES },
    note: { type: 'string', title: 'Note', maxLength: 20 },
    contact: { type: 'string', title: 'Contact', format: 'email', description: 'Who hears about a failure.' },
    instances: { type: 'integer', title: 'Instances', minimum: 1, maximum: 10, default: 2 },
    load: { type: 'number', title: 'Load', minimum: 0, maximum: 1 },
    day: { type: 'string', title: 'Day', format: 'date' },
    at: { type: 'string', title: 'At', format: 'date-time' },
    notify: { type: 'boolean', title: 'Tell the team' },
    checks: {
      type: 'array',
      title: 'Checks',
      minItems: 1,
      items: { type: 'string', enum: ['smoke', 'load'] },
    },
  },
  ['region', 'country', 'contact', 'instances', 'notify', 'checks'],
);
