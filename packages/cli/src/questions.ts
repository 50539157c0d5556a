import type { FormField, FormQuestion, Question } from 'mcp-parley/client';
import { inQuotes, quoted } from './quoted.js';
import { harmless } from './safe-text.js';

/** More choices than these are counted, not listed. */
const MOST_CHOICES = 12;

/** Longest message that is shown whole, in characters. */
const LONGEST_MESSAGE = 4000;

/** Questions as text, for people who answer them later or in a file: the key, the message, and the fields. */
export function describeQuestions(questions: readonly Question[]): string {
  return questions.map(describeQuestion).join('\n');
}

/** The fields of a form, each with what it takes. One line a field. */
function describeFields({ schema }: FormQuestion): string[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties).map(([name, field]) => {
    const parts = [kindOf(field), ...(required.has(name) ? ['required'] : []), ...presetOf(field)];
    return `${quoted(name)}: ${parts.join(', ')}`;
  });
}

function describeQuestion(question: Question): string {
  const key = inQuotes(question.key);
  switch (question.kind) {
    case 'form':
      return [
        `  ${key}: ${messageOf(question)}`,
        ...describeFields(question).map((line) => `      ${line}`),
      ].join('\n');
    case 'url':
      return `  ${key}: ${messageOf(question)}\n      a page to open: ${question.url}`;
    case 'sampling':
    case 'roots':
      return `  ${key}: ${question.kind}`;
  }
}

/** Behind a bar where it has more lines: none of them must look like one of ours. */
function messageOf({ message }: { readonly message: string }): string {
  const rest = message.length - LONGEST_MESSAGE;
  const more = rest > 0 ? `\n… and ${rest} characters more` : '';
  return `${harmless(message.slice(0, LONGEST_MESSAGE)).trim()}${more}`.replaceAll('\n', '\n    | ');
}

function kindOf(field: FormField): string {
  switch (field.type) {
    case 'boolean':
      return 'true or false';
    case 'number':
    case 'integer':
      return `${field.type}${bounds(field.minimum, field.maximum)}`;
    case 'array': {
      const { items } = field;
      const values = 'anyOf' in items ? items.anyOf.map((option) => option.const) : items.enum;
      return `list of ${choices(values)}${bounds(field.minItems, field.maxItems, ' of them')}`;
    }
    case 'string': {
      const values = field.oneOf?.map((option) => option.const) ?? field.enum;
      if (values !== undefined) return `one of ${choices(values)}`;
      const format = field.format === undefined ? '' : ` (${field.format})`;
      return `text${format}${bounds(field.minLength, field.maxLength, ' characters')}`;
    }
  }
}

function choices(values: readonly string[]): string {
  const shown = values.slice(0, MOST_CHOICES).map(inQuotes);
  const rest = values.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function bounds(least: number | undefined, most: number | undefined, unit = ''): string {
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`;
  if (least !== undefined) return `, at least ${least}${unit}`;
  return most === undefined ? '' : `, at most ${most}${unit}`;
}

function presetOf(field: FormField): string[] {
  return field.default === undefined ? [] : [`default ${quoted(JSON.stringify(field.default))}`];
}
