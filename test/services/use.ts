import { connect } from 'node:net';
import { inject } from 'vitest';

export type ServiceName = 'redis' | 'postgres';

/** What the run of the tests has of a service. */
export type Offer = { readonly url: string } | { readonly missing: string } | { readonly failed: string };

declare module 'vitest' {
  interface ProvidedContext {
    /** Port at which services are asked for. */
    readonly services: number;
  }
}

/**
 * URL of the Redis or Postgres of this run, which is started if it is not yet. Undefined where the machine has
 * none: skip what needs it with `describe.skipIf(url === undefined)`; the end of the run says so loudly.
 *
 * The server is shared, and may be the user's own (REDIS_URL, DATABASE_URL): use keys and tables of your own, and
 * start your own with `startRedis()` or `startPostgres()` where a server is to be stopped.
 */
export async function service(name: ServiceName): Promise<string | undefined> {
  const reply = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect(inject('services'), '127.0.0.1', () => socket.write(name));
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    socket.on('error', reject).on('end', () => resolve(text));
  });
  const offer = JSON.parse(reply) as Offer;
  if ('failed' in offer) throw new Error(`The tests have no ${name}: ${offer.failed}`);
  return 'url' in offer ? offer.url : undefined;
}
