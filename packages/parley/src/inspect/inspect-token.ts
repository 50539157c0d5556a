import { StateRejected } from '../errors.js';
import {
  checkClaims,
  createSealer,
  decodeClaims,
  DEFAULT_MAX_LENGTH,
  encodeBase64url,
  parseKeys,
  principalDigest,
  requestDigest,
  toHex,
  type Claims,
  type KeysInput,
  type Opened,
  type PrincipalParts,
  type RequestIdentity,
} from '../seal/index.js';
import { readContents } from './contents.js';
import type { Inspection, OpenedToken } from './inspection.js';
import { unopened } from './unopened.js';

/** How to look into a token. */
export interface InspectOptions {
  /** The ring, as for `new Parley`. Any of its keys opens. */
  readonly keys: KeysInput;
  /** Who the token is for: the server's name, unless its `Parley` was given an `audience`. */
  readonly audience: string;
  /** Whether values are told: answers, results of steps, messages of errors. Default false. */
  readonly reveal?: boolean | undefined;
  /** Asks whether the token belongs to this request. `arguments` as the client sent them. */
  readonly request?: RequestIdentity | undefined;
  /**
   * Asks whether it belongs to this caller: its parts; the text that the option `principal` gives; null for a caller
   * that is not signed in.
   */
  readonly principal?: PrincipalParts | string | null | undefined;
  /** Longest token that is looked at, in characters. Default 65,536, as on a server. */
  readonly maxLength?: number | undefined;
  /** The clock, in ms since 1970: tells what is over, and which key seals. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Deeper than any server takes. How deep arguments may nest is no part of their digest. */
const ARGUMENTS_DEPTH = 1024;

/** The digest of callers that are not signed in. */
const NOBODY = toHex(principalDigest(null));

/**
 * Looks into a token (`requestState`), for people who hold its key and ask what became of a flow. It tells what the
 * token says of itself, also when its time is over, or precisely why it does not open. That it opens here does not
 * mean that a server would take it.
 *
 * Not a string is an outcome too: `requestState` is what the client made of it.
 *
 * For operators, and never for what a client sent: a client must not learn why its state was not accepted.
 *
 * @throws ConfigurationError for keys, an audience or a `maxLength` that cannot be used.
 * @throws Uncanonical for a `request` or `principal` that has no canonical JSON.
 */
export async function inspectToken(token: unknown, options: InspectOptions): Promise<Inspection> {
  const { audience, reveal = false, maxLength = DEFAULT_MAX_LENGTH, now = Date.now } = options;
  const sealer = createSealer({ keys: parseKeys(options.keys), audience, now, maxLength });
  const wanted = digestsOf(options);
  if (typeof token !== 'string') return { outcome: 'unopened', reason: 'not_a_string' };
  try {
    const opened = await sealer.open(token);
    return describe(token, opened, { wanted, now: now(), reveal });
  } catch (error) {
    if (!(error instanceof StateRejected)) throw error;
    return unopened(error, token, { ring: sealer.keyIds, maxLength });
  }
}

interface Wanted {
  readonly request?: string;
  readonly principal?: string;
}

function digestsOf({ request, principal }: InspectOptions): Wanted {
  return {
    ...(request !== undefined && { request: toHex(requestDigest(request, ARGUMENTS_DEPTH)) }),
    ...(principal !== undefined && { principal: toHex(principalDigest(principal)) }),
  };
}

interface Telling {
  readonly wanted: Wanted;
  readonly now: number;
  readonly reveal: boolean;
}

/** @throws StateRejected `claims` when it cannot be read. */
function describe(token: string, opened: Opened, { wanted, now, reveal }: Telling): OpenedToken {
  const claims = decodeClaims(opened.plaintext);
  const { kind, flow, round, issued, expires, deadline } = claims;
  const { waits, version, trace, questions, contents } = readContents(kind, claims.body, reveal);
  const stale = staleness(claims, now);
  const principal = toHex(claims.principal);
  const request = toHex(claims.request);
  return {
    outcome: 'opened',
    bytes: token.length,
    key: { id: opened.kid, position: opened.position, seals: opened.current },
    kind,
    flow: encodeBase64url(flow),
    round,
    waits,
    issued,
    expires,
    deadline,
    ...(stale !== undefined && { stale }),
    principal: principal === NOBODY ? null : principal,
    request,
    ...(version !== undefined && { version }),
    ...(trace !== undefined && { trace }),
    questions,
    contents,
    fits: {
      ...(wanted.request !== undefined && { request: wanted.request === request }),
      ...(wanted.principal !== undefined && { principal: wanted.principal === principal }),
    },
  };
}

/** Held against itself, so that only the times are left to differ: the same rule as on a server. */
function staleness(claims: Claims, now: number): OpenedToken['stale'] {
  const { kind, principal, request } = claims;
  const reason = checkClaims(claims, { kind, principal, request, now });
  return reason === 'expired' || reason === 'deadline' ? reason : undefined;
}
