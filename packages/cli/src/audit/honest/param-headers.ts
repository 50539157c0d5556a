import { headerValue } from '../wire/http-headers.js';
import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

/** Parameters that a tool wants in headers, as they are called there with their values (METH-16, MRTR-C-11). */
export function paramHeaders(schema: JsonObject, args: Json | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  collect(schema, args, found);
  return found;
}

function collect(schema: JsonObject, args: Json | undefined, found: Record<string, string>): void {
  const { properties } = schema;
  if (!isObject(properties) || !isObject(args)) return;
  for (const [name, inner] of Object.entries(properties)) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (!isObject(inner) || value === undefined || value === null) continue;
    const header = inner['x-mcp-header'];
    if (typeof value === 'object') collect(inner, value, found);
    else if (typeof header === 'string') found[`Mcp-Param-${header}`] = headerValue(String(value));
  }
}
