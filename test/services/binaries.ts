import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A server's program is not on this machine, and could not be installed. */
export class MissingBinary extends Error {
  constructor(
    readonly binary: string,
    reason: string,
  ) {
    super(`'${binary}' was not found ${reason}`);
    this.name = 'MissingBinary';
  }
}

/** The Debian package of each program. */
const PACKAGES = {
  'redis-server': 'redis-server',
  postgres: 'postgresql',
  initdb: 'postgresql',
  nginx: 'nginx',
};

export type Binary = keyof typeof PACKAGES;

/** Debian keeps Postgres's programs outside of PATH, a folder a version. */
const POSTGRES = '/usr/lib/postgresql';

let updated = false;

/**
 * Path of a program. On Debian, as root, it is installed if it is missing.
 *
 * @throws MissingBinary
 */
export function findBinary(name: Binary): string {
  const found = look(name);
  if (found !== undefined) return found;
  const reason = install(PACKAGES[name]);
  const path = look(name);
  if (path === undefined) throw new MissingBinary(name, reason);
  return path;
}

/** Whether a program is here, or could be installed. */
export function hasBinary(name: Binary): boolean {
  try {
    findBinary(name);
    return true;
  } catch {
    return false;
  }
}

function look(name: Binary): string | undefined {
  return [...folders()].map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function* folders(): Iterable<string> {
  yield* (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  yield* ['/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];
  if (!existsSync(POSTGRES)) return;
  const versions = readdirSync(POSTGRES).toSorted((a, b) => Number(b) - Number(a));
  yield* versions.map((version) => join(POSTGRES, version, 'bin'));
}

/** Says why the package is still missing, to be read after "not found". */
function install(name: string): string {
  const there = `and can be installed with the package '${name}'.`;
  if (process.env['PARLEY_NO_INSTALL'] === '1') return there;
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return there;
  console.error(`Installing the Debian package ${name} …`);
  if (!updated) apt('update', '-qq');
  updated = true;
  const fault = apt('install', '-y', '-qq', '--no-install-recommends', name);
  return fault === undefined ? there : `and its package '${name}' could not be installed: ${fault}`;
}

function apt(...args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync('apt-get', args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return status === 0 ? undefined : (error?.message ?? stderr).trim().slice(-500);
}
