import type { McpServer, RegisteredTool } from '@modelcontextprotocol/server';

/** Where the SDK keeps the JSON Schemas of an instance's tools, by their names. It is private. */
interface Internals {
  readonly _toolInputSchemaJson?: Record<string, unknown>;
}

/** What came of a schema: its JSON, or `undefined` where the SDK could not convert it. */
interface Converted {
  readonly json: unknown;
}

/** `undefined` for a schema that was registered once: a server that stays up needs its JSON once, and not from here. */
const inputs = new WeakMap<object, Converted | undefined>();
const outputs = new WeakMap<object, Converted | undefined>();

/**
 * Lends the JSON Schemas of a tool that was just registered from instance to instance. A factory that makes a server for
 * each request mostly registers constants of its module, and converting them is the largest part of such a request.
 *
 * The SDK makes the JSON, by its own rules, and drops it when the tool is changed through its handle. What it is used for
 * is looked up in each request: headers that name parameters, and how a result is laid out. Lists convert anew.
 */
export function lendConverted(mcp: McpServer, name: string, registered: RegisteredTool): void {
  const { inputSchema, outputSchema } = registered;
  const record = (mcp as unknown as Internals)._toolInputSchemaJson;
  if (inputSchema !== undefined && record !== undefined) {
    const found = converted(inputs, inputSchema, () => mcp.toolInputSchemaJson(name));
    if (found !== undefined) record[name] = found;
  }
  if (outputSchema !== undefined) {
    const handle = registered as { outputSchemaJson?: unknown };
    const found = converted(outputs, outputSchema, () => handle.outputSchemaJson);
    if (found !== undefined) handle.outputSchemaJson = found;
  }
}

/** The JSON of a schema from its second registration on; `undefined` before that, and where there is none. */
function converted(
  known: WeakMap<object, Converted | undefined>,
  schema: object,
  convert: () => unknown,
): unknown {
  const before = known.get(schema);
  if (before !== undefined) return before.json;
  if (!known.has(schema)) {
    known.set(schema, undefined);
    return undefined;
  }
  const json = convert();
  known.set(schema, { json });
  return json;
}
