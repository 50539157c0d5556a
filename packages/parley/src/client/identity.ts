import { ConfigurationError, SavedFlowForeign } from '../errors.js';
import { isObject, isTexts, own } from './json.js';

/**
 * Which server is talked to, and as whom, as the host's configuration says it. What a server says of itself
 * (`serverInfo`) proves nothing, and is not used (client/elicitation, "Security Considerations" 2; FORM-23).
 */
export type ServerIdentity = (
  | {
      /** Its URL, without credentials. */
      readonly url: string;
    }
  | {
      /** The program that is started, and its arguments. */
      readonly command: string;
      readonly args?: readonly string[] | undefined;
    }
) & {
  /** Who is signed in there; `null`, or absent, for nobody. Never a token. */
  readonly principal?: string | null | undefined;
};

/** What is wrong with an identity, or nothing. */
export function identityFault(server: unknown): string | undefined {
  if (!isObject(server)) return 'is not an object';
  const [url, command, args] = [own(server, 'url'), own(server, 'command'), own(server, 'args')];
  const extra = Object.keys(server).find((name) => !['url', 'command', 'args', 'principal'].includes(name));
  if (extra !== undefined) return 'has a member that it should not have';
  if ((url === undefined) === (command === undefined)) return 'needs a url or a command';
  if (url !== undefined) {
    if (typeof url !== 'string' || !URL.canParse(url)) return 'has a url that is none';
    const { username, password } = new URL(url);
    if (username !== '' || password !== '') return 'has a url with credentials, which would be saved';
    if (args !== undefined) return 'has args without a command';
  } else if (typeof command !== 'string' || command === '') {
    return 'has a command that is not a text';
  }
  if (args !== undefined && !isTexts(args)) return 'has args that are not texts';
  const principal = own(server, 'principal');
  if (principal !== undefined && principal !== null && typeof principal !== 'string') {
    return 'has a principal that is not a text';
  }
  return undefined;
}

/**
 * One form for each server, so that they can be compared.
 *
 * @throws ConfigurationError when it names no server.
 */
export function plainIdentity(server: ServerIdentity): ServerIdentity {
  const fault = identityFault(server);
  if (fault !== undefined) throw new ConfigurationError(`The server's identity ${fault}.`);
  return normalIdentity(server);
}

/** As {@link plainIdentity}, for one that was checked. */
export function normalIdentity(server: ServerIdentity): ServerIdentity {
  const principal = server.principal ?? null;
  // Present and undefined is absent: a host may write both, and leave one empty.
  if ('url' in server && server.url !== undefined) {
    const url = new URL(server.url);
    url.hash = '';
    return { url: url.href, principal };
  }
  const { command, args = [] } = server as Extract<ServerIdentity, { readonly command: string }>;
  return { command, args: [...args], principal };
}

/** Whether both are the same server, whoever is signed in. */
export function isSameServer(a: ServerIdentity, b: ServerIdentity): boolean {
  return addressOf(a) === addressOf(b);
}

/** @throws SavedFlowForeign when what was saved for one would go to another. */
export function requireSame(saved: ServerIdentity, mine: ServerIdentity): void {
  if (!isSameServer(saved, mine)) throw new SavedFlowForeign('server');
  if ((saved.principal ?? null) !== (mine.principal ?? null)) throw new SavedFlowForeign('principal');
}

function addressOf(server: ServerIdentity): string {
  const plain = normalIdentity(server);
  return 'url' in plain ? plain.url : JSON.stringify([plain.command, ...(plain.args ?? [])]);
}
