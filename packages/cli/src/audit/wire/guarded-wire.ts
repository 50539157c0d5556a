import type { Wire, WireReply, WireRequest } from './message.js';

/** A wire that counts its requests, and can be taken away from who holds it. */
export class GuardedWire implements Wire {
  readonly #wire: Wire;
  readonly #signal: AbortSignal | undefined;
  #sent = 0;

  /** @param signal ends what is under way here; the wire itself goes on */
  constructor(wire: Wire, signal?: AbortSignal) {
    this.#wire = wire;
    this.#signal = signal;
  }

  get kind(): Wire['kind'] {
    return this.#wire.kind;
  }

  /** How many requests were sent through it. */
  get sent(): number {
    return this.#sent;
  }

  async send(request: WireRequest): Promise<WireReply> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    this.#sent += 1;
    const reply = this.#wire.send(request);
    return signal === undefined ? reply : unlessAborted(reply, signal);
  }

  print(request: WireRequest): string {
    return this.#wire.print(request);
  }

  headerIn(text: string): string | undefined {
    return this.#wire.headerIn(text);
  }

  close(): Promise<void> {
    return this.#wire.close();
  }
}

/** Waits for something, or for the signal, whose reason it rejects with. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let heed = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    heed = () => reject(signal.reason as Error);
    signal.addEventListener('abort', heed, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', heed);
  }
}
