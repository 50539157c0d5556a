/** Looking into a token, for holders of the key. It reports, and admits nothing. */
export { inspectToken, type InspectOptions } from './inspect-token.js';
export type {
  Contents,
  Fit,
  Inspection,
  InspectedEntry,
  InspectedKey,
  InspectedQuestion,
  OpenedToken,
  UnopenedToken,
} from './inspection.js';
export type {
  ForeignCharacter,
  KeyInput,
  KeysInput,
  Malformation,
  PrincipalParts,
  RequestIdentity,
} from '../seal/index.js';
export { ConfigurationError, ParleyError, Uncanonical, type ParleyErrorCode } from '../errors.js';
export type { Json } from '../flow/index.js';
