import type { Changes, Pause } from '../attack.js';
import { PROTOCOL_VERSION } from '../wire/http-headers.js';
import type { Caller, JsonObject, WireRequest } from '../wire/message.js';
import { paramHeaders } from './param-headers.js';

/** Names of what every request says of its client (META-01, META-02). */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
} as const;

/** What an honest client can do: all that a server may ask for. */
const CAPABILITIES: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** Builds requests, whole: with `_meta`, and with the headers that a tool's parameters are mirrored in. */
export class Envelope {
  readonly #meta: JsonObject;
  readonly #schemas = new Map<string, JsonObject>();

  /** @param version of the audit itself */
  constructor(version: string) {
    this.#meta = {
      [META.version]: PROTOCOL_VERSION,
      [META.client]: { name: 'parley-audit', version },
      [META.capabilities]: CAPABILITIES,
    };
  }

  /** Says how the arguments of a tool look. */
  learn(tool: string, inputSchema: JsonObject | undefined): void {
    if (inputSchema !== undefined) this.#schemas.set(tool, inputSchema);
  }

  /** A request that begins something. */
  first(method: string, params: JsonObject, caller: Caller = 'main'): WireRequest {
    return this.#request(method, params, { caller });
  }

  /**
   * The retry of a pause: the same method and parameters, the answers and the state of the latest round, and nothing
   * of an earlier one (MRTR-C-04, MRTR-C-06, MRTR-C-09).
   */
  retry(pause: Pause, changes: Changes = {}): WireRequest {
    const { _meta, inputResponses: _answers, requestState: _state, ...params } = pause.request.params;
    const { name, arguments: args } = changes;
    const hasQuestions = Object.keys(pause.questions).length > 0;
    const answers = 'answers' in changes ? changes.answers : hasQuestions ? pause.answers : undefined;
    const state = 'state' in changes ? changes.state : pause.state;
    const all = {
      ...params,
      ...(name !== undefined && { name }),
      ...(args !== undefined && { arguments: args }),
      ...(answers !== undefined && changes.withoutAnswers !== true && { inputResponses: answers }),
      ...(state !== undefined && changes.withoutState !== true && { requestState: state }),
    };
    // What an attack sends need not be what the protocol has; it is JSON all the same.
    return this.#request(changes.method ?? pause.request.method, all as JsonObject, {
      ...changes,
      caller: changes.caller ?? pause.caller,
    });
  }

  #request(
    method: string,
    params: JsonObject,
    { caller = 'main', headers, meta = {} }: Pick<Changes, 'caller' | 'headers' | 'meta'>,
  ): WireRequest {
    const members = Object.entries({ ...this.#meta, ...meta }).filter(([, value]) => value !== null);
    const { name } = params;
    const schema = method === 'tools/call' && typeof name === 'string' ? this.#schemas.get(name) : undefined;
    const all = { ...(schema !== undefined && paramHeaders(schema, params['arguments'])), ...headers };
    return {
      method,
      params: { ...params, _meta: Object.fromEntries(members) as JsonObject },
      caller,
      ...(Object.keys(all).length > 0 && { headers: all }),
    };
  }
}
