/** Who answers the questions: a person at the terminal, or the demo itself. Both read only the form's schema. */
import { confirm, select, text } from '@clack/prompts';
import type { InputRequests, InputResponses } from '@modelcontextprotocol/client';
import type { FormField, NumberField, RestrictedSchema } from 'mcp-parley/client';

type Value = string | number | boolean;

/** Answers one field of a form. */
export type Answerer = (message: string, field: FormField) => Promise<Value>;

/** The person pressed Ctrl-C. */
export class Cancelled extends Error {}

/** Takes what the form suggests, else the first choice; says yes. */
export const bySelf: Answerer = async (_message, field) => {
  if ('enum' in field) return String(field.default ?? field.enum?.[0]);
  if (field.type === 'boolean') return true;
  if (field.type === 'integer' || field.type === 'number') return field.default ?? field.minimum ?? 1;
  return 'demo';
};

/** Asks at the terminal. */
export const byPerson: Answerer = prompt;

/** Answers all questions of a round. */
export async function answerAll(asks: InputRequests, answer: Answerer): Promise<InputResponses> {
  const answers: InputResponses = {};
  for (const [key, { params }] of Object.entries(asks)) {
    if (params === undefined || !('requestedSchema' in params)) throw new Error(`'${key}' is not a form.`);
    answers[key] = {
      action: 'accept',
      content: await fillIn(params.message, params.requestedSchema, answer),
    };
  }
  return answers;
}

/** Fills a form in, field by field. */
export async function fillIn(
  message: string,
  { properties }: RestrictedSchema,
  answer: Answerer,
): Promise<Record<string, Value>> {
  const fields = Object.entries(properties);
  const content: Record<string, Value> = {};
  for (const [name, field] of fields) {
    content[name] = await answer(
      fields.length === 1 ? message : `${message} · ${field.title ?? name}`,
      field,
    );
  }
  return content;
}

/** @throws Cancelled when the person has enough. */
async function prompt(message: string, field: FormField): Promise<Value> {
  if ('enum' in field && field.enum !== undefined) {
    const options = field.enum.map((value) => ({ value }));
    return given(await select({ message, options, initialValue: field.default ?? field.enum[0] }));
  }
  if (field.type === 'boolean') return given(await confirm({ message, initialValue: field.default ?? true }));
  if (field.type === 'integer' || field.type === 'number') return promptNumber(message, field);
  return given(await text({ message }));
}

async function promptNumber(message: string, field: NumberField): Promise<number> {
  const { type, minimum = -Infinity, maximum = Infinity, default: preset } = field;
  const what = `a ${type === 'integer' ? 'whole ' : ''}number from ${minimum} to ${maximum}`;
  const entered = await text({
    message: `${message} (${what})`,
    ...(preset !== undefined && { placeholder: String(preset), defaultValue: String(preset) }),
    validate: (input = '') => {
      if (input.trim() === '' && preset !== undefined) return undefined;
      const number = input.trim() === '' ? Number.NaN : Number(input);
      const fits = number >= minimum && number <= maximum && (type === 'number' || Number.isInteger(number));
      return fits ? undefined : `Please enter ${what}.`;
    },
  });
  return Number(given(entered));
}

/** What a prompt gave, unless it was left with Ctrl-C: then it gives a symbol. */
function given<T>(value: T): Exclude<T, symbol> {
  if (typeof value === 'symbol') throw new Cancelled();
  return value as Exclude<T, symbol>;
}
