import type { McpRequestContext, Server } from '@modelcontextprotocol/server';

/** Notifications that say that an instance is no longer as its factory made it. */
const CHANGES: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

/** What of the request a factory can look at. */
export type OfRequest = Pick<McpRequestContext, 'authInfo' | 'requestInfo'>;

/** What is known about an instance: whether the next request may have it too. */
export class Watch {
  #spoilt = false;

  /** Whether another request would get an equal instance from the factory. */
  get reusable(): boolean {
    return !this.#spoilt;
  }

  /** Says that this instance is for nobody else. */
  spoil(): void {
    this.#spoilt = true;
  }

  /** From now on, spoils when the instance tells that its tools, prompts or resources changed. */
  changesOf(server: Server): void {
    const notification = server.notification.bind(server);
    server.notification = async (message, options) => {
      if (CHANGES.has(message.method)) this.spoil();
      await notification(message, options);
    };
  }

  /**
   * The context for the factory. A factory that looks at the request makes an instance for this request only, so
   * looking spoils. A look that comes later, from a handler of an instance that is used again, sees the request that
   * this handler serves.
   *
   * @param later gives what there is to see by then, once the first request is over.
   */
  context(first: McpRequestContext, later: () => OfRequest | undefined): McpRequestContext {
    const seen = (key: PropertyKey | undefined): object => {
      if (key === 'era') return first;
      const now = later();
      if (now !== undefined) return { era: first.era, ...now };
      this.spoil();
      return first;
    };
    // The target is empty, so that no rule of proxies ties an answer to it.
    return new Proxy({} as McpRequestContext, {
      get: (_, key) => Reflect.get(seen(key), key) as unknown,
      has: (_, key) => Reflect.has(seen(key), key),
      ownKeys: () => Reflect.ownKeys(seen(undefined)),
      getOwnPropertyDescriptor: (_, key) => {
        const found = Reflect.getOwnPropertyDescriptor(seen(key), key);
        return found && { ...found, configurable: true };
      },
    });
  }
}
