import { checkContent } from './check-content.js';
import type { FormField } from './restricted-schema.js';

/** Shortest and longest texts that each format has. */
const LENGTHS = {
  email: [5, Infinity],
  uri: [2, Infinity],
  date: [10, 10],
  'date-time': [20, Infinity],
} as const;

/** Whether a field asks for what cannot be: no value at all fits it, so nobody can fill it in. */
export function nothingFits(field: FormField): boolean {
  switch (field.type) {
    case 'boolean':
      return false;
    case 'number':
    case 'integer': {
      const { minimum = -Infinity, maximum = Infinity } = field;
      return field.type === 'integer' ? Math.ceil(minimum) > Math.floor(maximum) : minimum > maximum;
    }
    case 'string': {
      const { enum: plain, oneOf: titled, ...bounds } = field;
      const options = plain ?? titled?.map((option) => option.const);
      if (options !== undefined) return !options.some((option) => fits(bounds, option));
      const [shortest, longest] = field.format === undefined ? [0, Infinity] : LENGTHS[field.format];
      return Math.max(field.minLength ?? 0, shortest) > Math.min(field.maxLength ?? Infinity, longest);
    }
    case 'array': {
      const { items, minItems = 0, maxItems = Infinity } = field;
      // A choice that stands there twice can be named once.
      const options = new Set('enum' in items ? items.enum : items.anyOf.map((option) => option.const));
      return minItems > Math.min(maxItems, options.size);
    }
  }
}

function fits(field: FormField, value: string): boolean {
  return checkContent({ type: 'object', properties: { field } }, { field: value }).ok;
}
