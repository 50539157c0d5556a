import { describe, expect, it } from 'vitest';
import { checkAnswer, drive, Stepper, type Handlers, type Question } from '../../src/client/index.js';
import { CALL, failureOf, interim, optionsWith, scripted, textForm, URL_OF_SERVER } from './harness.js';

/** What a terminal acts on, or what a person does not see: C0, C1, a change of direction, no width. */
const ESC = '\u001b[2J\u009b31m\u202e\u2066\u200b\u2028';
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const LONG = 'k'.repeat(5_000_000);

const form = (properties: object, required: string[] = []) => ({
  method: 'elicitation/create',
  params: { message: 'x', requestedSchema: { type: 'object', properties, required } },
});

const refusing: Handlers = { form: () => Promise.reject(new Error('no')) };
const empty: Handlers = { form: () => ({ action: 'accept', content: {} }) };

describe.each([
  ['what a terminal acts on', ESC],
  ['megabytes', LONG],
])('messages of errors do not hold %s of the server', (_, name) => {
  const check = (message: string): void => {
    expect(message).not.toMatch(ACTING);
    expect(message.length).toBeLessThan(1000);
  };

  const failing = async (inputRequests: object, handlers: Handlers): Promise<string> => {
    const { client } = await scripted(() => interim({ inputRequests }));
    return (await failureOf(drive(client, CALL, optionsWith({ handlers })))).message;
  };

  it('in keys of questions that nobody answers', async () => {
    check(await failing({ [name]: textForm() }, refusing));
  });

  it('in keys of answers that do not fit, and in names of their fields', async () => {
    check(await failing({ [name]: form({ [name]: { type: 'string' } }, [name]) }, empty));
  });

  it('in keys of questions that come again and again', async () => {
    const { client } = await scripted((_request, nth) =>
      interim({
        inputRequests: { [name]: form({}), ...Object.fromEntries([[`${name}2`, form({})]]) },
        requestState: `s${nth}`,
      }),
    );
    check((await failureOf(drive(client, CALL, optionsWith({ handlers: empty })))).message);
  });

  it.each([
    ['that are none', () => ({ [name]: 'x' })],
    [
      'of an unknown kind',
      () => ({ [name]: { method: 'sampling/createMessage', params: { messages: [] } } }),
    ],
    ['with a field that is none', () => ({ [name]: form({ [name]: { type: 'null' } }) })],
    [
      'with a field that nothing fits',
      () => ({ [name]: form({ [name]: { type: 'number', minimum: 1, maximum: 0 } }) }),
    ],
    [
      'with a URL that must not be opened',
      () => ({ [name]: { method: 'elicitation/create', params: { mode: 'url', message: '', url: 'x:y' } } }),
    ],
  ])('in keys and fields of questions %s', async (_kind, questions) => {
    check(await failing(questions(), { ...refusing, url: () => ({ action: 'cancel' }) }));
  });

  it('in names of fields that were not asked for, however many', () => {
    const question: Question = {
      key: 'q',
      kind: 'form',
      message: '',
      schema: { type: 'object', properties: {} },
    };
    const content = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${name}${i}`, 1]));
    const result = checkAnswer(question, { action: 'accept', content });
    expect(result.type).toBe('faulty');
    if (result.type === 'faulty') check(result.reason);
  });

  it('in keys of answers to what was not asked', async () => {
    const { client } = await scripted(() => interim({ inputRequests: { q: textForm() } }));
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const step = await stepper.begin(CALL);
    if (step.type !== 'pending') throw new Error('no question');
    const answers = new Map([[name, { action: 'cancel' } as const]]);
    check((await failureOf(stepper.next(step.flow, answers))).message);
  });
});
