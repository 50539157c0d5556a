import {
  McpServer,
  SdkError,
  SdkErrorCode,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type Server,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { Exchange } from './exchange.js';
import { innerOf, serverOf, type Product } from './inner.js';
import type { Watch } from './watch.js';

/**
 * Ids that the SDK sees begin with this, and no client can guess it. So what a handler sends too late, for a request
 * that is over, can never be taken for what belongs to the next request of the instance.
 */
const OWN_IDS = crypto.randomUUID();

/**
 * Why the signal of a request that was answered is aborted: as by the SDK when it closes an instance. One for each
 * request, since a handler can write on it.
 */
function over(): SdkError {
  return new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed');
}

/** Whether the schemas of tools copy arguments into headers; by the schema, which an instance keeps. */
const declaresHeaders = new WeakMap<object, boolean>();

/**
 * An instance of the factory that serves one exchange after the other, never two at once. It is the instance's
 * transport: what the SDK sends comes out in {@link Instance.send} and goes to the exchange that it belongs to.
 */
export class Instance implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly product: Product;
  readonly #server: Server;
  readonly #watch: Watch;
  readonly #onFree: (instance: Instance) => void;
  #current: Exchange | undefined;
  #served = 0;
  #dispatching = false;
  #refused = false;
  #closed = false;
  #receive: Transport['onmessage'];
  /** How often somebody took hold of what comes in. The SDK does once; whoever does too wants to see all of it. */
  #taps = 0;

  /**
   * @param product made by the factory, connected to nothing, and bound to the modern revision by the SDK's entry.
   * @param watch sees what would make the instance differ from a new one.
   * @param onFree called when an exchange is over.
   */
  constructor(product: Product, watch: Watch, onFree: (instance: Instance) => void) {
    this.product = product;
    this.#server = serverOf(product);
    this.#watch = watch;
    this.#onFree = onFree;
  }

  get onmessage(): Transport['onmessage'] {
    return this.#receive;
  }

  set onmessage(receive: Transport['onmessage']) {
    this.#receive = receive;
    this.#taps += 1;
  }

  /** Whether it may serve again: nobody closed it, and it is as its factory made it. */
  get usable(): boolean {
    return !this.#closed && this.#watch.reusable;
  }

  /** Whether it serves an exchange now. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** From now on it is not usable; what it serves goes on. */
  retire(): void {
    this.#watch.spoil();
  }

  /** Connects the product to this transport. */
  async connect(): Promise<void> {
    const inner = innerOf(this.#server);
    const build = inner.buildContext.bind(this.#server);
    inner.buildContext = (context, extra) => {
      const exchange = this.#dispatching ? this.#current : undefined;
      if (exchange === undefined) return build(context, extra);
      const built = build({ ...context, http: {} }, extra);
      return { ...built, mcpReq: { ...built.mcpReq, id: exchange.id }, http: exchange.http(built.http) };
    };
    await this.product.connect(this);
  }

  async start(): Promise<void> {}

  /**
   * Serves an exchange. Must be {@link Instance.usable} and not {@link Instance.busy}.
   *
   * @returns false if the SDK refused it before any handler ran: then nothing was written, and the SDK's own entry
   *   must answer.
   */
  serve(exchange: Exchange): boolean {
    const { message, classification, client } = exchange.admitted;
    const inner = innerOf(this.#server);
    inner._clientCapabilities = client.capabilities;
    inner._clientVersion = client.info;
    this.#current = exchange;
    this.#served += 1;
    this.#refused = false;
    this.#dispatching = true;
    try {
      const own = { ...message, id: `${OWN_IDS}:${this.#served}` };
      const extra = {
        classification,
        ...(exchange.authInfo !== undefined && { authInfo: exchange.authInfo }),
      };
      if (inner._onrequest !== undefined && this.#isDirect) inner._onrequest(own, extra);
      else this.#receive?.(own, extra);
    } finally {
      this.#dispatching = false;
    }
    if (!this.#refused) return true;
    this.#free();
    return false;
  }

  /** Whether nothing stands between the SDK's server and this transport, as monitoring does. */
  get #isDirect(): boolean {
    return this.#taps === 1 && this.#server.transport === this;
  }

  /**
   * Whether rules of this instance's own stand before a request: a tool whose arguments travel in headers too, or a
   * scope that the caller lacks. The SDK's entry knows how to answer these.
   */
  hasOwnRules({ admitted, authInfo }: Exchange): boolean {
    const { product } = this;
    if (!(product instanceof McpServer)) return false;
    const { message } = admitted;
    const name = message.params?.['name'];
    try {
      if (message.method === 'tools/call' && typeof name === 'string' && copiesIntoHeaders(product, name))
        return true;
      const challenge = product.resolveScopeChallenge({
        request: message,
        ...(authInfo !== undefined && { authInfo }),
      });
      if (challenge instanceof Promise) challenge.catch(() => {});
      return challenge !== undefined;
    } catch {
      return true;
    }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#closed) return;
    if ('method' in message) this.#sendOut(message, options?.relatedRequestId);
    else if (message.id === this.#idOfCurrent()) this.#settle(message);
    else this.onerror?.(new Error(`A response for a request that is over: ${String(message.id)}`));
  }

  #sendOut(message: Extract<JSONRPCMessage, { method: string }>, related: unknown): void {
    // A request to the client, which nobody will answer: it must end with its exchange.
    if ('id' in message) this.#watch.spoil();
    if (related === undefined) return;
    if (related !== this.#idOfCurrent()) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected');
    this.#current?.notify(message);
  }

  #settle(response: JSONRPCResponse): void {
    const exchange = this.#current;
    if (exchange === undefined) return;
    if (this.#dispatching && 'error' in response) {
      this.#refused = true;
      return;
    }
    exchange.answer({ ...response, id: exchange.id });
    // Under the SDK's entry an instance is closed after its response, which tells what the handler left running.
    innerOf(this.#server)._requestHandlerAbortControllers.get(response.id)?.abort(over());
    this.#free();
  }

  #free(): void {
    this.#current = undefined;
    this.#onFree(this);
  }

  #idOfCurrent(): string | undefined {
    return this.#current === undefined ? undefined : `${OWN_IDS}:${this.#served}`;
  }

  /** Ends all, as when a client hangs up: the handler that runs is aborted, and the instance serves no more. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const exchange = this.#current;
    this.#current = undefined;
    exchange?.abandon();
    Reflect.deleteProperty(this.#server, 'buildContext'); // The prototype's is there again.
    this.onclose?.();
  }
}

function copiesIntoHeaders(product: McpServer, name: string): boolean {
  const schema = product.toolInputSchemaJson(name);
  if (schema === undefined) return false;
  let declares = declaresHeaders.get(schema);
  if (declares === undefined) {
    declares = JSON.stringify(schema).includes('"x-mcp-header"');
    declaresHeaders.set(schema, declares);
  }
  return declares;
}
