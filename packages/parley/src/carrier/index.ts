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
  type Expectation,
  type OpenResult,
  type SealedState,
  type TokenCarrierOptions,
} from './token-carrier.js';
