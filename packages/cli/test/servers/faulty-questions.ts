import type { Fault } from './faulty-answers.js';
import { formOf, TRANSFER, urlOf, type Asked, type Fields } from './harness/forms.js';
import type { Parts } from './harness/parts.js';

/** Puts a question in the place of the second one. */
const asking = (question: Asked): Partial<Parts> => ({
  questions: TRANSFER.map(([key, asked], index) => (index === 1 ? [key, question] : [key, asked])),
});

/** Changes all results that ask. */
const interim = (change: (result: Fields) => Fields): Partial<Parts> => ({
  finish: (reply) =>
    reply.result?.['resultType'] === 'input_required' ? { ...reply, result: change(reply.result) } : reply,
});

const TEXT = { type: 'string' };

/** Servers whose questions are not as they must be; by name. */
export const FAULTY_QUESTIONS = {
  'asks-password': () => asking(formOf('Please sign in.', { password: TEXT })),
  'asks-card': () => asking(formOf('Enter your credit card number', { value: TEXT })),
  'asks-api-key': () => asking(formOf('One thing is missing.', { apiKey: { ...TEXT, title: 'Key' } })),

  'page-over-http': () => asking(urlOf('Sign in.', 'http://login.example.com/start?id=1')),
  'page-with-credentials': () => asking(urlOf('Sign in.', 'https://ann:secret@login.example.com/')),
  'page-with-mail': () => asking(urlOf('Sign in.', 'https://login.example.com/?user=ann%40example.com')),
  'page-with-token': () => asking(urlOf('Sign in.', 'https://login.example.com/?access_token=4f1c')),

  'interim-with-ttl': () => interim((result) => ({ ...result, ttlMs: 1000, cacheScope: 'private' })),
  'question-with-id': () =>
    interim((result) => ({
      ...result,
      inputRequests: Object.fromEntries(
        Object.entries(result['inputRequests'] as Fields).map(([key, asked]) => [
          key,
          Object.assign({ jsonrpc: '2.0', id: 1 }, asked),
        ]),
      ),
    })),
  'question-without-message': () => asking(formOf('', { reason: TEXT })),
  'nested-form': () =>
    asking(formOf('What for?', { reason: { type: 'object', properties: { text: TEXT } } })),
} satisfies Readonly<Record<string, Fault>>;
