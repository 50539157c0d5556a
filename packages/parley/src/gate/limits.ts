import { DEFAULT_FLOW_LIMITS, type FlowLimits } from '../flow/index.js';

/** All bounds of this library. Sizes in bytes. */
export interface Limits extends FlowLimits {
  /** Length of a sealed state on the wire. Default 48 KiB. */
  readonly stateBytes: number;
  /** Bytes of a journal that may go to the ledger when it is too large for a state. Default 1 MiB. */
  readonly overflowBytes: number;
  /** How deep a request's arguments may nest, to be bound to a state. Default 64. */
  readonly argumentsDepth: number;
}

/** The defaults of {@link Limits}. */
export const DEFAULT_LIMITS: Limits = {
  ...DEFAULT_FLOW_LIMITS,
  stateBytes: 48 * 1024,
  overflowBytes: 1024 * 1024,
  argumentsDepth: 64,
};

/** Where warnings go: mistakes in handlers, a missing key, rejected states. Gets no data of a flow. */
export interface Logger {
  warn(message: string): void;
}
