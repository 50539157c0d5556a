import { isFields, matches, readAnswer, type Fields } from './harness/forms.js';
import { checkArguments, type Parts } from './harness/parts.js';

/** A faulty server: what it does otherwise than the correct one. Made anew for each start. */
export type Fault = () => Partial<Parts>;

/** Servers that take answers, or arguments, that they must not take; by name. */
export const FAULTY_ANSWERS = {
  /** Copies what came as if it were its own object: `__proto__` becomes the copy's prototype. */
  'inherits-answers': () => ({
    answersOf: (sent) => (isFields(sent) ? Object.assign({}, sent) : undefined),
    lookUp: (answers, key) => answers[key],
  }),

  /** Merges what came, in depth, into an object that all requests share. */
  'merges-answers': () => {
    const defaults: Record<string, unknown> = {};
    return {
      answersOf: (sent) => (isFields(sent) ? merged(Object.create(defaults) as Fields, sent) : undefined),
      lookUp: (answers, key) => answers[key],
    };
  },

  /** Whatever is no refusal is a yes. */
  'any-action': () => ({
    readAnswer: (asked, answer) => {
      const read = readAnswer(asked, answer);
      return read.kind === 'again' && isFields(answer)
        ? readAnswer(asked, { ...answer, action: 'accept' })
        : read;
    },
  }),

  /** Trusts that the client has validated. */
  'unvalidated-answers': () => ({
    readAnswer: (asked, answer) => {
      const read = readAnswer(asked, answer);
      if (read.kind !== 'again' || !isFields(answer)) return read;
      const { action, content } = answer;
      return action === 'accept' && isFields(content) ? { kind: 'accepted', content } : read;
    },
  }),

  /** Looks at the content first. */
  'content-before-action': () => ({
    readAnswer: (asked, answer) => {
      const content = isFields(answer) ? answer['content'] : undefined;
      const isKnown = isFields(answer) && ['accept', 'decline', 'cancel'].includes(String(answer['action']));
      return isKnown && isFields(content) && matches(asked.params['requestedSchema'], content)
        ? { kind: 'accepted', content }
        : readAnswer(asked, answer);
    },
  }),

  /** Takes silence for a yes. */
  'silence-is-consent': () => ({
    readAnswer: (asked, answer) =>
      answer === undefined ? { kind: 'accepted', content: {} } : readAnswer(asked, answer),
  }),

  /** Validates arguments in the first round, and binds nothing to them later. */
  'arguments-once': () => ({
    checkArguments: (args, state) => state !== undefined || checkArguments(args),
    bind: (state, here) =>
      state.method === here.method && state.name === here.name && state.user === here.user,
  }),

  /** Wants exactly its answers. */
  'no-other-answers': () => ({
    readAnswer: (asked, answer, answers) =>
      Object.keys(answers).length > 1 ? { kind: 'refused' } : readAnswer(asked, answer),
  }),

  /** Has an error for missing answers. */
  'missing-is-an-error': () => ({
    readAnswer: (asked, answer) => (answer === undefined ? { kind: 'refused' } : readAnswer(asked, answer)),
  }),

  /** Asks until it hears a yes. */
  'never-takes-no': () => ({
    readAnswer: (asked, answer) => {
      const read = readAnswer(asked, answer);
      return read.kind === 'ended' ? { kind: 'again' } : read;
    },
  }),

  /** Says again what was wrong before, ever longer. */
  'growing-questions': () => {
    let wrong = '';
    return {
      readAnswer: (asked, answer) => {
        const read = readAnswer(asked, answer);
        if (read.kind === 'again') wrong += 'That was wrong. '.repeat(30);
        return read;
      },
      ask: (asked) => ({ ...asked, params: { ...asked.params, message: `What now? ${wrong}` } }),
    };
  },
} satisfies Readonly<Record<string, Fault>>;

function merged(target: Record<string, unknown>, source: Fields): Fields {
  for (const [key, value] of Object.entries(source)) {
    const there = target[key];
    if (there === Object.prototype) continue; // the test's own must stay whole
    if (isFields(value) && isFields(there)) merged(there, value);
    else target[key] = value;
  }
  return target;
}
