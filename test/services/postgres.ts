import { execFile } from 'node:child_process';
import { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from './binaries.js';
import { startService, type Service } from './service.js';

const USER = 'parley';

/**
 * Starts a Postgres with an empty database. It does not wait for the disk: what it acknowledged survives its own
 * crash, and not the machine's. @throws MissingBinary
 */
export async function startPostgres(): Promise<Service> {
  const initdb = findBinary('initdb');
  const user = unprivileged();
  return await startService({
    name: 'postgres',
    file: findBinary('postgres'),
    args: (folder, port) => [
      '-D',
      join(folder, 'data'),
      ...settings({
        port: String(port),
        listen_addresses: '127.0.0.1',
        unix_socket_directories: folder,
        max_connections: '200',
        fsync: 'off',
        full_page_writes: 'off',
        lc_messages: 'C',
      }),
    ],
    url: (port) => `postgres://${USER}@127.0.0.1:${port}/postgres`,
    ready: /database system is ready to accept connections/,
    stop: 'SIGINT', // "fast": ends sessions and waits for nobody
    kill: 'SIGQUIT', // "immediate": as a crash; after SIGKILL its children live on for a while and hold the data
    user,
    async prepare(folder) {
      if (user !== undefined) chownSync(folder, user.uid, user.gid);
      const args = [
        '-D',
        join(folder, 'data'),
        '--no-sync',
        '--auth=trust',
        '-U',
        USER,
        '--no-locale',
        '-E',
        'UTF8',
      ];
      await promisify(execFile)(initdb, args, { cwd: folder, ...user });
    },
  });
}

function settings(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Postgres refuses to run as root: then as `postgres`, or as `nobody`. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'Postgres refuses to run as root, and there is no other user: neither postgres nor nobody.',
  );
}
