import type { McpRequestContext, McpServerFactory, Server } from '@modelcontextprotocol/server';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from './exchange.js';
import { Instance } from './instance.js';
import { serverOf, type Product } from './inner.js';
import { Watch, type OfRequest } from './watch.js';

/**
 * Instances of a factory that have served a request and can serve another.
 *
 * P1. The first request of an instance is served by the SDK's entry, which binds it to the revision; only what that
 *     left closed and unspoilt comes into the pool.
 * P2. An instance serves one exchange at a time.
 * P3. An instance that differs from a new one is never used again: its factory looked at the request or closes
 *     something of its own, it was changed, closed, aborted, or the pool was refreshed since it was made.
 */
export class Pool {
  readonly #factory: McpServerFactory;
  readonly #maxIdle: number;
  /** Which exchange the code that runs belongs to. Kept only for factories that take a context. */
  readonly #serving: AsyncLocalStorage<Exchange> | undefined;
  readonly #idle: Instance[] = [];
  readonly #busy = new Set<Instance>();
  /** For factories that give the same instance again. */
  readonly #known = new WeakMap<Server, Instance>();
  readonly #watches = new WeakMap<Server, Watch>();
  #generation = 0;
  #closed = false;

  /** @param maxIdle instances that are kept while they have nothing to do. */
  constructor(factory: McpServerFactory, maxIdle: number) {
    this.#factory = factory;
    this.#maxIdle = maxIdle;
    this.#serving = factory.length > 0 ? new AsyncLocalStorage() : undefined;
  }

  /** The factory for the SDK's entry: what it made comes into the pool when its request is over. */
  readonly make: McpServerFactory = async (context) => {
    const generation = this.#generation;
    const look = new Watch();
    let first = true;
    const product = await this.#factory(look.context(context, () => (first ? undefined : this.#ofRequest())));
    const server = serverOf(product);
    await this.#takeBack(server);
    if (context.era !== 'modern' || !look.reusable || server.onclose !== undefined) return product;
    const watch = this.#watchOf(server, look);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- of the SDK, where there is only this
    server.onclose = () => {
      delete server.onclose;
      first = false;
      if (!look.reusable) watch.spoil();
      // Not at once: the SDK is in the middle of closing.
      if (!wasAborted(context)) queueMicrotask(() => void this.#adopt(product, generation));
    };
    return product;
  };

  #ofRequest(): OfRequest {
    const exchange = this.#serving?.getStore();
    if (exchange === undefined)
      throw new TypeError(
        'The context of the factory was read after its request was over. Read it while the factory runs, or read ctx.http of the handler.',
      );
    const { authInfo, req } = exchange.http();
    return { ...(authInfo !== undefined && { authInfo }), ...(req !== undefined && { requestInfo: req }) };
  }

  /** A factory that gives one instance for all requests: the SDK's entry must find it unconnected. */
  async #takeBack(server: Server): Promise<void> {
    const instance = this.#known.get(server);
    if (instance === undefined || instance.busy) return;
    const at = this.#idle.indexOf(instance);
    if (at !== -1) this.#idle.splice(at, 1);
    await instance.product.close();
  }

  #watchOf(server: Server, look: Watch): Watch {
    const known = this.#watches.get(server);
    if (known !== undefined) return known;
    look.changesOf(server);
    this.#watches.set(server, look);
    return look;
  }

  async #adopt(product: Product, generation: number): Promise<void> {
    const server = serverOf(product);
    const watch = this.#watches.get(server);
    if (watch?.reusable !== true || this.#closed || server.transport !== undefined) return;
    if (this.#idle.length >= this.#maxIdle) return;
    const instance = new Instance(product, watch, (free) => this.putBack(free));
    this.#known.set(server, instance);
    try {
      await instance.connect();
    } catch {
      // An author's own connect() that works once only: nothing is lost but the reuse.
      instance.retire();
    }
    // Only now: others may have come meanwhile, and the pool may have been refreshed.
    if (generation !== this.#generation) instance.retire();
    this.putBack(instance);
  }

  /** An instance for one exchange; undefined if none is idle. The one used last is taken first. */
  take(): Instance | undefined {
    const instance = this.#idle.pop();
    if (instance === undefined) return undefined;
    if (!instance.usable) {
      this.discard(instance);
      return this.take();
    }
    this.#busy.add(instance);
    return instance;
  }

  /** Lets a taken instance serve an exchange; see {@link Instance.serve}. */
  serve(instance: Instance, exchange: Exchange): boolean {
    try {
      return this.#serving === undefined
        ? instance.serve(exchange)
        : this.#serving.run(exchange, () => instance.serve(exchange));
    } catch (error) {
      this.discard(instance);
      throw error;
    }
  }

  /** Takes back an instance that has nothing to do, to be used again if it may. */
  putBack(instance: Instance): void {
    this.#busy.delete(instance);
    if (instance.usable && !this.#closed && this.#idle.length < this.#maxIdle) this.#idle.push(instance);
    else this.discard(instance);
  }

  /** Ends an instance, and aborts what it does. */
  discard(instance: Instance): void {
    this.#busy.delete(instance);
    instance.product.close().catch(() => {});
  }

  /** From now on, requests get instances that the factory makes anew. What is being served ends as it began. */
  refresh(): void {
    this.#generation += 1;
    for (const instance of this.#busy) instance.retire();
    for (const instance of this.#idle.splice(0)) this.discard(instance);
  }

  /** Ends all instances; what they do is aborted. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#idle.splice(0), ...this.#busy];
    this.#busy.clear();
    await Promise.all(all.map((instance) => instance.product.close().catch(() => {})));
  }
}

function wasAborted({ requestInfo }: McpRequestContext): boolean {
  return requestInfo?.signal.aborted === true;
}
