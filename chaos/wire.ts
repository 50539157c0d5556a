/** What the chaos server and its clients agree on: paths, arguments and results of the tool `redeem`. */

/** The two MCP endpoints of a server, by the ledger behind them. */
export type Endpoint = 'redis' | 'postgres';

/**
 * Where a redemption takes effect: `log` appends a line to a file, `transaction` inserts a row that commits together
 * with the claim (Postgres only).
 */
export type Effective = 'log' | 'transaction';

/** Arguments of `redeem`. */
export interface RedeemArguments {
  readonly person: string;
  readonly coupon: string;
  readonly effective: Effective;
}

/** What `redeem` ends with, as JSON in a text. */
export interface Redemption {
  /** This flow. */
  readonly flow: string;
  readonly coupon: string;
  /** The flow that redeemed the coupon. */
  readonly winner: string;
  readonly won: boolean;
  /** What the person said, and what the step before made. */
  readonly person: string;
  readonly note: string;
  readonly ticket: string;
}

/** What a server tells the runner. */
export type ServerMessage =
  | { readonly type: 'listening' }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'repeated' }
  /** It cannot reach a store for a while. Times in ms since 1970. */
  | { readonly type: 'partition'; readonly store: Endpoint; readonly from: number; readonly to: number }
  /** The reply of a store came late: held back on purpose, or because the machine has too much to do. */
  | {
      readonly type: 'late';
      readonly onPurpose: boolean;
      readonly store: Endpoint;
      readonly from: number;
      readonly to: number;
    }
  /** The process stood still, as it does after SIGSTOP, or when the machine has too much to do. */
  | { readonly type: 'lag'; readonly life: string; readonly from: number; readonly to: number }
  | { readonly type: 'warning'; readonly text: string };

/** The question of the second round. Shows the ticket, so that the client can hold the result against it. */
export function confirmation(ticket: string): string {
  return `Send the receipt of ticket ${ticket}?`;
}
