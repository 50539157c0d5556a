import type { InspectOptions } from 'mcp-parley/inspect';
import { parseJsonObject } from '../json-input.js';
import { WrongUse } from '../outcome.js';
import type { InspectArguments } from './options.js';

/**
 * What the token is to be held against, as far as the command line says.
 *
 * @throws WrongUse for what names no request, or two principals.
 */
export function heldAgainst(options: InspectArguments): Pick<InspectOptions, 'principal' | 'request'> {
  return { request: requestOf(options), principal: principalOf(options) };
}

function requestOf(options: InspectArguments): InspectOptions['request'] {
  const { name, uri, method = uri === undefined ? 'tools/call' : 'resources/read' } = options;
  const target = name ?? uri;
  if (target === undefined) {
    if (options.method === undefined && options.arguments === undefined) return undefined;
    throw new WrongUse('--method and --arguments need the name of a tool or prompt (--name), or a --uri.');
  }
  if (name !== undefined && uri !== undefined) throw new WrongUse('Give --name or --uri, not both.');
  const given = options.arguments;
  return {
    method,
    target,
    arguments: given === undefined ? undefined : parseJsonObject(given, 'What --arguments holds'),
  };
}

function principalOf(options: InspectArguments): InspectOptions['principal'] {
  const { principal, issuer, client, subject, anonymous = false } = options;
  const hasParts = issuer !== undefined || client !== undefined || subject !== undefined;
  if ([principal !== undefined, hasParts, anonymous].filter(Boolean).length > 1) {
    throw new WrongUse('Give --principal, or --issuer with --client and --subject, or --anonymous.');
  }
  if (anonymous) return null;
  if (!hasParts) return principal;
  return {
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { client }),
    ...(subject !== undefined && { subject }),
  };
}
