import { Ended, EXIT } from '../../outcome.js';
import { harmlessLine } from '../../safe-text.js';
import { PROTOCOL_VERSION } from '../wire/http-headers.js';
import type { JsonObject, Wire, WireReply } from '../wire/message.js';
import { isObject } from '../wire/response.js';
import type { Envelope } from './envelope.js';

/** More pages of a list than any honest server has. */
const MOST_PAGES = 50;

/** A tool that a target lists. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema?: JsonObject;
}

/** What a target has. */
export interface Listing {
  readonly tools: readonly ListedTool[];
  readonly prompts: readonly string[];
}

/**
 * Sees that a target speaks the revision that is audited, and asks what it has.
 *
 * @throws Ended when it does not, or gives no list of tools.
 */
export async function readListing(wire: Wire, envelope: Envelope): Promise<Listing> {
  const discovered = await wire.send(envelope.first('server/discover', {}));
  const versions = discovered.result?.['supportedVersions'];
  if (Array.isArray(versions) && !versions.includes(PROTOCOL_VERSION)) throw notModern();
  // It may not have this method, and speak the revision all the same.
  if (discovered.failure !== undefined)
    throw new Ended(EXIT.failed, `The target cannot be audited: ${discovered.failure}.`);
  const tools = await readList(wire, envelope, 'tools');
  if ('fault' in tools) throw unusable(tools.fault, discovered);
  const capabilities = discovered.result?.['capabilities'];
  const hasPrompts = !isObject(capabilities) || capabilities['prompts'] !== undefined;
  const prompts = hasPrompts ? await readList(wire, envelope, 'prompts') : { items: [] };
  return {
    tools: tools.items.flatMap(({ name, inputSchema }) =>
      typeof name === 'string' ? [{ name, ...(isObject(inputSchema) && { inputSchema }) }] : [],
    ),
    prompts:
      'fault' in prompts ? [] : prompts.items.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
  };
}

type List = { readonly items: readonly JsonObject[] } | { readonly fault: WireReply };

async function readList(wire: Wire, envelope: Envelope, what: 'tools' | 'prompts'): Promise<List> {
  const items: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const reply = await wire.send(envelope.first(`${what}/list`, params));
    const list = reply.result?.[what];
    if (!Array.isArray(list)) return { fault: reply };
    items.push(...list.filter(isObject));
    const next = reply.result?.['nextCursor'];
    if (typeof next !== 'string') break;
    cursor = next;
  }
  return { items };
}

function notModern(): Ended {
  return new Ended(
    EXIT.failed,
    `The target does not speak revision ${PROTOCOL_VERSION} of MCP. Only that one has states to be audited.`,
  );
}

const UNSUPPORTED_VERSION = -32_022;

function unusable({ error, failure, status }: WireReply, discovered: WireReply): Ended {
  const codes = [error?.code, discovered.error?.code];
  if (codes.includes(UNSUPPORTED_VERSION)) return notModern();
  if (status === 401 || status === 403) {
    return new Ended(EXIT.failed, `The target wants to know who you are (HTTP ${status}). Say so with --as.`);
  }
  // A server of an earlier revision knows neither method without its handshake.
  if (discovered.result === undefined && failure === undefined) return notModern();
  const why =
    failure ??
    (error === undefined ? undefined : `error ${error.code}: ${harmlessLine(error.message).slice(0, 200)}`);
  return new Ended(
    EXIT.failed,
    `The target gives no list of tools: ${why ?? `HTTP ${status ?? 'without a status'}`}.`,
  );
}
