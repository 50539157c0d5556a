/**
 * Stands between the clients and nginx, and makes the network a bad one: it cuts responses off after the server did
 * its work, and sends requests twice at the same instant. What becomes of an attempt follows from the seed and the
 * attempt's label alone.
 */
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { LABEL_HEADER } from './client.js';
import type { Random } from './random.js';
import type { Witness } from './witness.js';

/** What becomes of one attempt: its response never comes, or comes half, or the request goes out twice. */
export type Fate = 'pass' | 'cut' | 'cut-half' | 'double';

const ODDS: readonly (readonly [Fate, number])[] = [
  ['cut', 0.03],
  ['cut-half', 0.02],
  ['double', 0.05],
];

interface Upstream {
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A bad network. */
export class FaultProxy {
  readonly #target: number;
  readonly #random: Random;
  readonly #witness: Witness;
  readonly #onFault: (fate: Exclude<Fate, 'pass'>) => void;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((request, response) => {
    this.#relay(request, response).catch(() => response.destroy());
  });
  /** Second copies whose responses nobody waits for but the witness. */
  readonly #strays = new Set<Promise<unknown>>();

  constructor(
    target: number,
    random: Random,
    witness: Witness,
    onFault: (fate: Exclude<Fate, 'pass'>) => void,
  ) {
    this.#target = target;
    this.#random = random;
    this.#witness = witness;
    this.#onFault = onFault;
  }

  /** Listens on a free port of the loopback interface, and gives it. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#strays);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const random = this.#random.fork(String(request.headers[LABEL_HEADER]));
    const fate = draw(random);
    if (fate !== 'pass') this.#onFault(fate);
    if (fate === 'double') {
      const stray = this.#forward(request, body).catch(() => undefined);
      this.#strays.add(stray);
      void stray.then(() => this.#strays.delete(stray));
    }
    // Whole, before anything goes on: what is cut off here was done there.
    const { status, type, bytes } = await this.#forward(request, body);
    if (fate === 'cut') {
      response.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': type, 'content-length': bytes.length });
    if (fate === 'cut-half') {
      response.write(bytes.subarray(0, random.int(0, bytes.length - 1)), () => response.destroy());
      return;
    }
    response.end(bytes);
  }

  async #forward({ url = '/', headers }: IncomingMessage, body: Buffer): Promise<Upstream> {
    const { [LABEL_HEADER]: _label, host: _host, connection: _connection, ...rest } = headers;
    const options = { host: '127.0.0.1', port: this.#target, method: 'POST', path: url, headers: rest };
    const upstream = await new Promise<Upstream>((resolve, reject) => {
      httpRequest({ ...options, agent: this.#agent }, (answer) => {
        const type = answer.headers['content-type'] ?? 'text/plain';
        buffer(answer).then((bytes) => resolve({ status: answer.statusCode ?? 502, type, bytes }), reject);
      })
        .once('error', reject)
        .end(body);
    });
    this.#witness.see({
      path: url,
      bearer: headers.authorization ?? '',
      body: body.toString('utf8'),
      status: upstream.status,
      text: upstream.bytes.toString('utf8'),
    });
    return upstream;
  }
}

function draw(random: Random): Fate {
  let at = random.next();
  for (const [fate, odds] of ODDS) {
    if (at < odds) return fate;
    at -= odds;
  }
  return 'pass';
}
