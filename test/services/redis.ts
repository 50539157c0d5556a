import { findBinary } from './binaries.js';
import { startService, type Service } from './service.js';

/**
 * Starts a Redis that keeps what it acknowledged, also when it is killed.
 *
 * @param settings of its own, as in redis.conf.
 * @throws MissingBinary
 */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  return await startService({
    name: 'redis',
    file: findBinary('redis-server'),
    args: (folder, port) =>
      Object.entries({
        port: String(port),
        bind: '127.0.0.1',
        dir: folder,
        save: '',
        appendonly: 'yes',
        appendfsync: 'always',
        'maxmemory-policy': 'noeviction',
        ...settings,
      }).flatMap(([name, value]) => [`--${name}`, value]),
    url: (port) => `redis://127.0.0.1:${port}`,
    ready: /Ready to accept connections/,
    stop: 'SIGTERM',
    kill: 'SIGKILL',
  });
}
