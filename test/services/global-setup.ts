import { createServer, type AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { MissingBinary } from './binaries.js';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
import type { Service } from './service.js';
import type { Offer, ServiceName } from './use.js';

/*
 * One Redis and one Postgres for a run of the tests. They are started when the first test asks (see `use.ts`), so
 * that nobody who needs none waits for them, and a run of a single file costs nothing.
 */

const START: Readonly<Record<ServiceName, () => Promise<Service>>> = {
  redis: startRedis,
  postgres: startPostgres,
};
const OVERRIDE: Readonly<Record<ServiceName, string>> = { redis: 'REDIS_URL', postgres: 'DATABASE_URL' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<ServiceName, Promise<Offer>>();
  const services: Service[] = [];
  const missing = new Set<string>();

  const offer = async (name: ServiceName): Promise<Offer> => {
    const url = process.env[OVERRIDE[name]];
    if (url !== undefined && url !== '') return { url };
    try {
      const service = await START[name]();
      services.push(service);
      return { url: service.url };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // On CI nothing is skipped, and what is there but does not start is a fault anywhere.
      if (process.env['CI'] === 'true' || !(error instanceof MissingBinary)) return { failed: reason };
      missing.add(`${name}: ${reason} Or set ${OVERRIDE[name]}.`);
      return { missing: reason };
    }
  };
  const offered = (name: ServiceName): Promise<Offer> => {
    const before = started.get(name) ?? offer(name);
    started.set(name, before);
    return before;
  };

  // A test connects, writes the name of a service, and gets its offer as soon as there is one.
  const desk = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (name) => {
      // Whoever needs one mostly needs the other soon: both start side by side.
      for (const each of Object.keys(START) as ServiceName[]) void offered(each);
      void offered(name.toString() as ServiceName).then((it) => socket.end(JSON.stringify(it)));
    });
  });
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  project.provide('services', (desk.address() as AddressInfo).port);

  return async () => {
    desk.close();
    await Promise.all(started.values());
    await Promise.all(services.map((service) => service.dispose()));
    if (missing.size === 0) return;
    console.error(`\n${'!'.repeat(80)}\nTESTS WERE SKIPPED, because a server is not on this machine:`);
    for (const each of missing) console.error(`  ${each}`);
    console.error(`${'!'.repeat(80)}\n`);
  };
}
