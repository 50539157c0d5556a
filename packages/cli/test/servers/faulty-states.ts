import { deterministicCodec } from './codecs/deterministic.js';
import { givingUpCodec } from './codecs/giving-up.js';
import { jwtCodec, trustingJwtCodec } from './codecs/jwt.js';
import { malleableCodec } from './codecs/malleable.js';
import { isPrefix, signedCodec } from './codecs/signed.js';
import { stepCodec } from './codecs/step.js';
import type { Fault } from './faulty-answers.js';
import { plainCodec, sealedCodec } from './harness/state.js';

/** Servers that make states which can be edited, invented or read; by name. */
export const FAULTY_STATES = {
  /** Believes whatever JSON comes back. */
  'unsigned-state': () => ({ codec: plainCodec }),

  /** Its state is the number of the step to be done, for whoever sends it. */
  'state-is-a-step': () => ({ codec: stepCodec, bind: () => true }),

  /** Encrypts without a tag. */
  malleable: () => ({ codec: malleableCodec() }),

  /** Compares only as many bytes of the MAC as are given. */
  'truncated-mac': () => ({ codec: signedCodec(isPrefix) }),

  /** The same; but after a state that it refuses, it takes none until it has made another. */
  'gives-flows-up': () => ({ codec: givingUpCodec() }),

  /** A JWT whose header says how it is to be verified. */
  'jwt-alg-none': () => ({ codec: trustingJwtCodec() }),

  /** A JWT under the key of the tutorial. */
  'jwt-known-key': () => ({ codec: jwtCodec('secret') }),

  /** Reads base64 as leniently as most decoders do: many texts stand for one state. */
  'lenient-encoding': () => {
    const codec = sealedCodec();
    const rewritten = (text: string) => Buffer.from(text, 'base64url').toString('base64url');
    return { codec: { ...codec, decode: (text) => codec.decode(rewritten(text)) } };
  },

  /** Makes a text of whatever comes: of a list with a state in it, that state. */
  'any-kind-of-state': () => ({ stateText: String }),

  /** Begins anew where a state is bad. */
  'fresh-start-on-failure': () => ({ onBadState: (_why, afresh) => afresh() }),

  /** Refuses bad states by falling over them. */
  'crashes-on-bad-state': () => ({
    onBadState: (why) => {
      throw new Error(why);
    },
  }),

  /** Signs its states, does not encrypt them, and keeps in them what is nobody's business. */
  'readable-secrets': () => {
    const codec = signedCodec();
    const kept = { session: { accessToken: 'held-for-the-user', mail: 'user@example.com' } };
    return { codec: { ...codec, encode: (state) => codec.encode({ ...state, ...kept }) } };
  },

  /** Its flows have no id of their own: the same flow has the same states. None of them can be used up, then. */
  'deterministic-state': () => ({ codec: deterministicCodec(), flowId: () => 'flow', singleUse: false }),

  /** Its states are the same for all users. */
  'state-of-all': () => ({
    codec: deterministicCodec(),
    flowId: () => 'flow',
    singleUse: false,
    identify: () => null,
  }),
} satisfies Record<string, Fault>;
