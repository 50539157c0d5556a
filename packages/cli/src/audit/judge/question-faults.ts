import type { Severity } from '../attack.js';
import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

type Fault = readonly [Severity, string];

const METHODS = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array']);
const FORMATS = new Set(['email', 'uri', 'date', 'date-time']);

/** What of a question is not as the schema wants it: `medium` where clients cannot use it. */
export function faultsOfQuestion(question: Json): readonly Fault[] {
  if (!isObject(question)) return [['medium', 'A question is no object.']];
  const { method, params } = question;
  if (typeof method !== 'string' || !METHODS.has(method))
    return [['medium', 'A question has a method that cannot be asked.']];
  const faults: Fault[] = [];
  for (const name of ['jsonrpc', 'id'])
    if (Object.hasOwn(question, name))
      faults.push(['low', `A question holds ${name}, as only a request does.`]);
  if (method === 'roots/list') return faults;
  if (!isObject(params)) return [...faults, ['medium', `A question (${method}) has no params.`]];
  if (method === 'sampling/createMessage') {
    if (!Array.isArray(params['messages'])) faults.push(['medium', 'A sampling question has no messages.']);
    if (typeof params['maxTokens'] !== 'number')
      faults.push(['low', 'A sampling question has no maxTokens.']);
    return faults;
  }
  if (typeof params['message'] !== 'string' || params['message'] === '')
    faults.push(['medium', 'A question has no message for people to read.']);
  if (params['mode'] === 'url') return faults; // url-question-unsafe looks at the address
  if (params['mode'] !== undefined && params['mode'] !== 'form')
    return [...faults, ['medium', 'A question has a mode that there is not.']];
  return [...faults, ...faultsOfForm(params['requestedSchema'])];
}

function faultsOfForm(schema: Json | undefined): readonly Fault[] {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties']))
    return [['medium', 'A form has no requestedSchema of an object with properties.']];
  const { properties, required } = schema;
  const faults = Object.values(properties).flatMap((field) => faultsOfField(field));
  const names = Array.isArray(required) ? required : [];
  if (names.some((name) => typeof name !== 'string' || !Object.hasOwn(properties, name)))
    faults.push(['low', 'A form requires a field that it does not have.']);
  return faults;
}

function faultsOfField(field: Json): readonly Fault[] {
  if (!isObject(field)) return [['medium', 'A field of a form is no schema.']];
  const { type, format } = field;
  if (typeof type !== 'string' || !TYPES.has(type))
    return [['medium', 'A field of a form is no text, number, boolean or choice: forms are flat.']];
  const faults: Fault[] = [];
  if (format !== undefined && (typeof format !== 'string' || !FORMATS.has(format)))
    faults.push(['low', 'A field of a form has a format that clients need not know.']);
  if (type === 'array' && !isChoice(field)) faults.push(['low', 'A list in a form is no choice of several.']);
  return faults;
}

function isChoice({ items }: JsonObject): boolean {
  return isObject(items) && (Array.isArray(items['enum']) || Array.isArray(items['anyOf']));
}
