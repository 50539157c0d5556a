import { signedCodec } from './codecs/signed.js';
import type { Fault } from './faulty-answers.js';
import { isFields, TRANSFER } from './harness/forms.js';

/** Servers that take a good state where it does not belong; by name. */
export const FAULTY_BINDINGS = {
  /** Signs its states, and asks no more of them than the signature. */
  'hmac-no-binding': () => ({ codec: signedCodec(), bind: () => true }),

  /** Binds all but the tool's name, under one key for all tools. */
  'key-shared-over-tools': () => ({
    bind: (state, here) =>
      state.method === here.method && state.digest === here.digest && state.user === here.user,
  }),

  /** Binds the user and the name: not the method, which has names of its own, and not the arguments. */
  'bound-to-name-only': () => ({
    bind: (state, here) => state.name === here.name && state.user === here.user,
  }),

  /** Binds the request, and not who sends it. */
  'unbound-user': () => ({
    bind: (state, here) =>
      state.method === here.method && state.name === here.name && state.digest === here.digest,
  }),

  /** Takes the OAuth client, which all users of an application share, for the user. */
  'principal-by-client-id': () => ({ identify: ({ user }) => (user === null ? null : 'client-of-all') }),

  /** Compares users only where the request has one. */
  'anonymous-takeover': () => ({
    bind: (state, here) =>
      state.method === here.method &&
      state.name === here.name &&
      state.digest === here.digest &&
      (here.user === null || state.user === here.user),
  }),

  /** Passes over each question that an answer is there for, asked or not. */
  'skips-steps': () => ({
    advance: (state, answers) => {
      const unanswered = TRANSFER.findIndex(([key], at) => at >= state.round && !Object.hasOwn(answers, key));
      return { ...state, round: unanswered === -1 ? TRANSFER.length + 1 : unanswered + 1 };
    },
  }),

  /** Without a state, it stands where the answers say. */
  'trusts-answers-alone': () => ({
    withoutState: ({ params }, beginning) => {
      const answers = params['inputResponses'];
      const at = TRANSFER.findIndex(([key]) => isFields(answers) && Object.hasOwn(answers, key));
      return at === -1 ? undefined : { ...beginning, round: at + 1 };
    },
  }),

  /** Pays as often as it is asked with the same state. */
  'replayed-effects': () => ({ singleUse: false }),

  /** Its states are good for ever. */
  'no-expiry': () => ({ expiresIn: 1e15 }),
} satisfies Record<string, Fault>;
