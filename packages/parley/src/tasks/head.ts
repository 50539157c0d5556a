import type { AuthInfo, ClientCapabilities, ServerContext } from '@modelcontextprotocol/server';
import type { TaskSeed } from '../gate/index.js';
import { encodeBase64url } from '../seal/index.js';

/** What a task is, from its creation on: everything that a worker on another machine needs beside the journal. */
export interface TaskHead {
  readonly tool: string;
  /** Digest of who created it. A store has it beside the head, to no avail for who can write there. */
  readonly principal: string;
  /** The arguments as the client sent them; absent when it sent none. */
  readonly args?: unknown;
  /** 16 bytes, base64url. */
  readonly flow: string;
  readonly round: number;
  /** End of the flow's life as a flow of rounds, in ms since 1970. */
  readonly deadline: number;
  readonly capabilities: ClientCapabilities;
  readonly auth?: StoredAuth;
  /** The handler's version. */
  readonly version?: string;
  /** What the author said when the flow became a task. */
  readonly message?: string;
}

/** Who asked: the verified credentials, and never the token. */
type StoredAuth = Pick<AuthInfo, 'clientId' | 'scopes' | 'expiresAt' | 'extra'> & {
  readonly resource?: string;
};

/** The head of a task, of what its request was. */
export function headOf(
  { tool, args, capabilities, ctx, policy, options, identity, binding }: TaskSeed,
  flow: string,
): TaskHead {
  const { round, deadline } = identity;
  return {
    tool,
    principal: encodeBase64url(binding.principal),
    ...(args !== undefined && { args }),
    flow,
    round,
    deadline,
    capabilities,
    ...storedAuth(ctx),
    ...(policy.version !== undefined && { version: policy.version }),
    ...(options.message !== undefined && { message: options.message }),
  };
}

/** What a handler finds as `flow.ctx.http.authInfo` in a task: as it was at creation, without its token. */
export function authOf({ auth }: TaskHead): AuthInfo | undefined {
  if (auth === undefined) return undefined;
  const { resource, ...rest } = auth;
  return { token: '', ...rest, ...(resource !== undefined && { resource: new URL(resource) }) };
}

function storedAuth(ctx: ServerContext): { readonly auth?: StoredAuth } {
  const auth = ctx.http?.authInfo;
  if (auth === undefined) return {};
  const { clientId, scopes, expiresAt, extra, resource } = auth;
  return {
    auth: {
      clientId,
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(extra !== undefined && { extra }),
      ...(resource !== undefined && { resource: resource.href }),
    },
  };
}
