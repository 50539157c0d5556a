export { acceptsVersion } from './accepts-version.js';
export { readBody } from './body.js';
export { bytesOf, journalTooLarge } from './journal-size.js';
export { questionDigest } from './question-digest.js';
export type {
  Binding,
  CarriedState,
  FlowIdentity,
  FlowState,
  OpenedState,
  PlainState,
  StatePolicy,
} from './state.js';
export {
  TokenCarrier,
  type Admission,
  type Overflow,
  type SealedState,
  type TokenCarrierOptions,
} from './token-carrier.js';
