import ipaddr from 'ipaddr.js';

/** What a host of a URL is, as far as its name tells. Nothing is looked up. */
export interface HostKind {
  /** A number in place of a name. */
  readonly isAddress: boolean;
  /** This machine, and nobody else can stand in between. */
  readonly isLoopback: boolean;
  /** None that the public can reach: of this machine, of a private network, or set aside. */
  readonly isPrivate: boolean;
}

/** Suffixes that the public name system does not have (RFC 2606, 6761, 6762 appendix G, 8375, and in common use). */
const PRIVATE_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;

/**
 * Tells what a host is. `hostname` is that of a `URL`, which has brought all spellings of an address into one:
 * `0x7f.1` is `127.0.0.1` there.
 */
export function hostKind(hostname: string): HostKind {
  const name = hostname.replace(/\.$/, '');
  const text = name.startsWith('[') ? name.slice(1, -1) : name;
  // An IPv4 address in an IPv6 one that is made for that (`::ffff:`) counts as what it is.
  const address = ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
  if (address === undefined) {
    const isLoopback = name === 'localhost' || name.endsWith('.localhost');
    return { isAddress: false, isLoopback, isPrivate: !name.includes('.') || PRIVATE_NAMES.test(name) };
  }
  const range = address.range();
  return {
    isAddress: true,
    isLoopback: range === 'loopback',
    isPrivate: range !== 'unicast' || !isAssigned(address),
  };
}

/** Of IPv6, only 2000::/3 was ever given to anybody; what else is not set aside by name leads nowhere public. */
function isAssigned(address: ReturnType<typeof ipaddr.process>): boolean {
  return address.kind() === 'ipv4' || (address.toByteArray()[0] ?? 0) >> 5 === 1;
}
