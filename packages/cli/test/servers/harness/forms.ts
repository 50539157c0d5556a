/** The questions of the harness, and the checks of their answers: all by hand, as a server without a library does it. */

export type Fields = Readonly<Record<string, unknown>>;

/** A question as it stands on the wire. */
export interface Asked {
  readonly method: string;
  readonly params: Fields;
}

/** What an answer amounts to. */
export type Answered =
  | { readonly kind: 'accepted'; readonly content: Fields }
  /** Declined or cancelled: the flow ends without its effect. */
  | { readonly kind: 'ended' }
  /** Missing, of another kind, or against the schema: the question is asked again. */
  | { readonly kind: 'again' }
  /** An error instead. */
  | { readonly kind: 'refused' };

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A form on the wire. */
export function formOf(message: string, properties: Fields): Asked {
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message,
      requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
    },
  };
}

/** A page to visit, on the wire. */
export function urlOf(message: string, url: string): Asked {
  return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/** The rounds of `transfer`: a key and its question each. */
export const TRANSFER: readonly (readonly [string, Asked])[] = [
  [
    'payment',
    formOf('Whom to pay, and how much?', {
      to: { type: 'string', minLength: 1, maxLength: 40 },
      amount: { type: 'number', minimum: 1, maximum: 10_000 },
      currency: { type: 'string', enum: ['EUR', 'USD'] },
    }),
  ],
  ['reason', formOf('What for?', { reason: { type: 'string', maxLength: 100 } })],
  ['confirm', formOf('Pay now?', { confirmed: { type: 'boolean' } })],
];

/** Reads the answer to a question; checks it against the schema that was asked with (FORM-20). */
export function readAnswer({ params }: Asked, answer: unknown): Answered {
  if (!isFields(answer)) return { kind: 'again' };
  const { action, content } = answer;
  if (action === 'decline' || action === 'cancel') return { kind: 'ended' };
  if (action === 'accept' && params['mode'] === 'url') return { kind: 'accepted', content: {} };
  if (action !== 'accept' || !isFields(content)) return { kind: 'again' };
  return matches(params['requestedSchema'], content) ? { kind: 'accepted', content } : { kind: 'again' };
}

/** Whether an object is as a flat schema wants it. */
export function matches(schema: unknown, value: unknown): boolean {
  if (!isFields(schema) || !isFields(value)) return false;
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  if (!required.every((name) => Object.hasOwn(value, String(name)))) return false;
  return Object.entries(value).every(([name, member]) =>
    Object.hasOwn(properties, name)
      ? isField(properties[name], member)
      : schema['additionalProperties'] !== false,
  );
}

function isField(field: unknown, value: unknown): boolean {
  if (!isFields(field)) return false;
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = field;
  if (Array.isArray(field['enum']) && !field['enum'].includes(value)) return false;
  if (type === 'number')
    return typeof value === 'number' && value >= Number(minimum) && value <= Number(maximum);
  if (type === 'string')
    return (
      typeof value === 'string' && value.length >= Number(minLength) && value.length <= Number(maxLength)
    );
  return typeof value === type;
}
