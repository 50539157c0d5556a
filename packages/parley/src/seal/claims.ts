/**
 * What a token says of itself, as bytes: a fixed header, then text, then padding if wanted. Specified in
 * `docs/token-format.md`. Header fields are big-endian.
 *
 *     format1 kind1 flow16 round4 issued8 expires8 deadline8 principal32 request32 length4  body  zeros
 *
 * All of it is under the token's authentication. It is still read strictly: an authentic token may come from
 * another version of this library, and a fault here must be a rejection, not a crash.
 */
import { type RejectionReason, StateRejected } from '../errors.js';
import { equalBytes } from './equal-bytes.js';
import { padmeLength } from './padme.js';
import { isWellFormed } from './well-formed.js';

/** Whether a state belongs to a flow, or to a handler that was written by hand and seals a text of its own. */
export type ClaimsKind = 'flow' | 'plain';

/** What a token says of itself. Times are ms since the Unix epoch. */
export interface Claims {
  readonly kind: ClaimsKind;
  /** Id of the flow, 16 random bytes. */
  readonly flow: Uint8Array;
  /** The round that this state ended, counted from 1; at most 2^32 - 1. */
  readonly round: number;
  readonly issued: number;
  /** Last moment at which this round may be answered. */
  readonly expires: number;
  /** Last moment of the flow as a whole. It does not slide. */
  readonly deadline: number;
  /** Who may present it: see `principalDigest`, 32 bytes. */
  readonly principal: Uint8Array;
  /** For which request: see `requestDigest`, 32 bytes. */
  readonly request: Uint8Array;
  /** The rest, as text; what it says is the carrier's business. Holds no half of a surrogate pair. */
  readonly body: string;
}

/** What the claims are held against. */
export interface ExpectedClaims {
  /** ms since the Unix epoch. */
  readonly now: number;
  readonly kind: ClaimsKind;
  readonly principal: Uint8Array;
  readonly request: Uint8Array;
  /** How far clocks of instances may be apart, in ms. Default 0. */
  readonly skew?: number;
}

/** How to write claims. */
export interface EncodeClaimsOptions {
  /** Pads to a Padmé length, so that the token's length says little about its contents. Default false. */
  readonly pad?: boolean;
}

const FORMAT = 1;
const KINDS: readonly (ClaimsKind | undefined)[] = [undefined, 'flow', 'plain'];

const FLOW_BYTES = 16;
const DIGEST_BYTES = 32;

const FLOW_AT = 2;
const ROUND_AT = 18;
const ISSUED_AT = 22;
const EXPIRES_AT = 30;
const DEADLINE_AT = 38;
const PRINCIPAL_AT = 46;
const REQUEST_AT = 78;
const LENGTH_AT = 110;

/** Length of the fixed header, in bytes. */
export const CLAIMS_HEADER_BYTES = 114;

const TWO_32 = 2 ** 32;

const utf8 = new TextEncoder();
// A byte order mark is not skipped: it would be a second form of the same text.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Writes claims.
 *
 * @throws RangeError if an id or digest has the wrong length, a number does not fit its field, or the body is not
 * well-formed.
 */
export function encodeClaims(claims: Claims, options: EncodeClaimsOptions = {}): Uint8Array {
  // The encoder would put U+FFFD for half a pair, and the flow would come back with other contents.
  if (!isWellFormed(claims.body)) throw new RangeError('The body of claims holds half of a surrogate pair.');
  const body = utf8.encode(claims.body);
  const length = CLAIMS_HEADER_BYTES + body.length;
  const bytes = new Uint8Array(options.pad === true ? padmeLength(length) : length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, FORMAT);
  view.setUint8(1, KINDS.indexOf(claims.kind));
  setBytes(bytes, FLOW_AT, claims.flow, FLOW_BYTES);
  setUint32(view, ROUND_AT, claims.round);
  setTime(view, ISSUED_AT, claims.issued);
  setTime(view, EXPIRES_AT, claims.expires);
  setTime(view, DEADLINE_AT, claims.deadline);
  setBytes(bytes, PRINCIPAL_AT, claims.principal, DIGEST_BYTES);
  setBytes(bytes, REQUEST_AT, claims.request, DIGEST_BYTES);
  setUint32(view, LENGTH_AT, body.length);
  bytes.set(body, CLAIMS_HEADER_BYTES);
  return bytes;
}

/**
 * Reads claims. Ids and digests are views of `bytes`.
 *
 * @throws StateRejected `claims` for whatever {@link encodeClaims} would not have written.
 */
export function decodeClaims(bytes: Uint8Array): Claims {
  if (bytes.length < CLAIMS_HEADER_BYTES) throw new StateRejected('claims');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const kind = KINDS[view.getUint8(1)];
  if (view.getUint8(0) !== FORMAT || kind === undefined) throw new StateRejected('claims');
  const end = CLAIMS_HEADER_BYTES + view.getUint32(LENGTH_AT);
  assertPadding(bytes, end);
  return {
    kind,
    flow: bytes.subarray(FLOW_AT, ROUND_AT),
    round: view.getUint32(ROUND_AT),
    issued: getTime(view, ISSUED_AT),
    expires: getTime(view, EXPIRES_AT),
    deadline: getTime(view, DEADLINE_AT),
    principal: bytes.subarray(PRINCIPAL_AT, REQUEST_AT),
    request: bytes.subarray(REQUEST_AT, LENGTH_AT),
    body: readText(bytes.subarray(CLAIMS_HEADER_BYTES, end)),
  };
}

/**
 * Holds authentic claims against the request that brought them. Gives the reason for a rejection, or `undefined`.
 *
 * The order matters: what is bound to somebody or something else is said first, so that `expired` (which a handler
 * may answer with a fresh start) is reported only for a state that is this caller's in every other respect.
 */
export function checkClaims(claims: Claims, expected: ExpectedClaims): RejectionReason | undefined {
  const { now, skew = 0 } = expected;
  // Both digests are always compared: the time must not tell which of them was wrong.
  const isPrincipal = equalBytes(claims.principal, expected.principal);
  const isRequest = equalBytes(claims.request, expected.request);
  if (claims.kind !== expected.kind) return 'kind';
  if (!isPrincipal) return 'principal';
  if (!isRequest) return 'request';
  // Written so that a clock that gives NaN rejects.
  if (!(now <= claims.deadline + skew)) return 'deadline';
  if (!(now <= claims.expires + skew)) return 'expired';
  return undefined;
}

function assertPadding(bytes: Uint8Array, end: number): void {
  // Exactly as written, with padding or without: then bytes and claims correspond one to one.
  if (bytes.length !== end && bytes.length !== padmeLength(end)) throw new StateRejected('claims');
  for (let index = end; index < bytes.length; index += 1) {
    if (bytes[index] !== 0) throw new StateRejected('claims');
  }
}

function readText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new StateRejected('claims');
  }
}

function setBytes(target: Uint8Array, at: number, value: Uint8Array, length: number): void {
  if (value.length !== length)
    throw new RangeError(`A field of claims has ${value.length} bytes instead of ${length}.`);
  target.set(value, at);
}

function setUint32(view: DataView, at: number, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= TWO_32) {
    throw new RangeError('A number in claims is not a whole number of 32 bits.');
  }
  view.setUint32(at, value);
}

function setTime(view: DataView, at: number, time: number): void {
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new RangeError('A time in claims is not in whole ms since the Unix epoch.');
  }
  view.setUint32(at, Math.floor(time / TWO_32));
  view.setUint32(at + 4, time % TWO_32);
}

function getTime(view: DataView, at: number): number {
  const time = view.getUint32(at) * TWO_32 + view.getUint32(at + 4);
  if (!Number.isSafeInteger(time)) throw new StateRejected('claims');
  return time;
}
