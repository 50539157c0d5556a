import { checkContent, type RestrictedSchema } from '../form/index.js';
import type { ElicitOutcome } from './flow.js';
import { restrictedSchema, type FormContent, type FormSchema } from './form-schema.js';
import type { Answer } from './journal.js';
import { formQuestion, type Question } from './question.js';
import type { Reading } from './questions.js';
import { isStandardSchema, type StandardIssue } from './standard-schema.js';

/** What a confirmation asks: a yes that was really given, not merely a form that was sent off. */
export const CONFIRM_SCHEMA = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Confirm' } },
  required: ['confirm'],
} as const satisfies RestrictedSchema;

/** What an outcome means to the call that asked: a value, or an error. */
type Meaning<T> =
  { readonly type: 'value'; readonly value: T } | { readonly type: 'error'; readonly error: Error };

/** A form: the restricted schema is what was asked, the author's schema is what the content must also pass. */
export function formAsk<S extends FormSchema, T>(
  key: string,
  { message, schema }: { readonly message: string; readonly schema: S },
  meaning: (outcome: ElicitOutcome<FormContent<S>>) => Meaning<T>,
): { readonly question: Question; readonly read: (answer: Answer) => Reading<T> | Promise<Reading<T>> } {
  const restricted = restrictedSchema(key, schema);
  const reading = (outcome: ElicitOutcome<FormContent<S>>, answer: Answer): Reading<T> => {
    return { ...meaning(outcome), answer };
  };
  return {
    question: formQuestion(key, message, restricted),
    read: (answer) => {
      if (!('action' in answer)) return { type: 'unusable', reason: 'it is of another kind.' };
      if (answer.action !== 'accept') return reading(answer, answer);
      const checked = checkContent(restricted, answer.content);
      if (!checked.ok) return { type: 'unusable', reason: checked.reason };
      const accepted: Answer = { action: 'accept', content: checked.content };
      if (!isStandardSchema(schema))
        return reading({ action: 'accept', content: checked.content as FormContent<S> }, accepted);
      const conclude = (result: {
        readonly value?: unknown;
        readonly issues?: readonly StandardIssue[] | undefined;
      }): Reading<T> =>
        result.issues === undefined
          ? reading({ action: 'accept', content: result.value as FormContent<S> }, accepted)
          : { type: 'unusable', reason: describeIssues(result.issues) };
      const result = schema['~standard'].validate(checked.content);
      return 'then' in result ? result.then(conclude) : conclude(result);
    },
  };
}

function describeIssues(issues: readonly StandardIssue[]): string {
  const describe = ({ path, message }: StandardIssue): string => {
    const names = path?.map((part) => String(typeof part === 'object' ? part.key : part)) ?? [];
    return names.length > 0 ? `'${names.join('.')}': ${message}` : message;
  };
  return issues.map(describe).join('; ');
}
