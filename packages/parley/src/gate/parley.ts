import {
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
  type Result,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { TokenCarrier } from '../carrier/index.js';
import { ConfigurationError } from '../errors.js';
import { memoryLedger, type Ledger } from '../ledger/index.js';
import type { RunHost } from '../flow/index.js';
import { createSealer, parseKeys, principalDigest, randomBytes, type RingKey } from '../seal/index.js';
import { keepTasksBare } from './bare-tasks.js';
import { Emitter, type GatedMethod, type Listener, type ParleyEvents } from './events.js';
import { Flows } from './flows.js';
import { Gate } from './gate.js';
import type { GateHost } from './gate-parts.js';
import type { GatedRequest, SdkHandler } from './request.js';
import type { Logger } from './limits.js';
import { settingsOf, type ParleyOptions } from './options.js';
import { Keeper } from './keeper.js';
import { principalOf } from './principal-of.js';
import { Registrations } from './registrations.js';
import { takeOutHandlers } from './reinstall.js';
import { RejectionLog } from './rejection-log.js';
import { runHostOf } from './run-host.js';
import { takeSeat } from './task-seat.js';
import { TASKS_EXTENSION, type ServerTasks } from './tasks.js';

const GATED: ReadonlySet<string> = new Set<GatedMethod>(['tools/call', 'prompts/get', 'resources/read']);

/** Marks a server for all copies of this library that a process may have loaded: two gates would seal twice. */
const ATTACHED = Symbol.for('mcp-parley.attached');

/** Longest record of the ledger, in characters: what a response may take, sealed. */
const MAX_RECORD = 64 * 1024 * 1024;

/** Longest state that is looked at, in characters, however small `limits.stateBytes` is: 64 KiB. */
const MAX_INBOUND = 64 * 1024;

/**
 * Sealed state and straight-line flows for MCP servers. One for a process; it holds the keys and nothing of
 * any flow.
 *
 * ```ts
 * const parley = new Parley({ keys: process.env.PARLEY_KEYS });
 * const flows = parley.attach(mcp);
 * ```
 */
export class Parley {
  readonly #options: ParleyOptions;
  readonly #keys: readonly RingKey[];
  readonly #host: GateHost;
  readonly #events: Emitter<ParleyEvents>;
  readonly #runHost: RunHost;
  readonly #stores = new Map<string, Stores>();
  #ledger: Ledger | undefined;

  /** @throws ConfigurationError for keys, bounds or times that cannot be used; the message says what to do. */
  constructor(options: ParleyOptions = {}) {
    const settings = settingsOf(options);
    const { logger } = settings;
    this.#options = options;
    this.#keys =
      options.keys === undefined ? [{ root: randomBytes(32), activateAt: 0 }] : parseKeys(options.keys);
    this.#events = new Emitter((error) => {
      logger.warn(`parley: a listener failed: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
    this.#runHost = runHostOf(settings);
    this.#host = {
      settings,
      events: this.#events,
      rejections: new RejectionLog(logger, settings.now, options.keys === undefined),
      principal: options.principal ?? defaultPrincipal(logger),
    };
    if (!this.#keys.some(({ activateAt }) => activateAt <= settings.now())) {
      throw new ConfigurationError(
        'No key of the ring is active yet: the activateAt of each lies in the future. Keep the old key in the ring until then.',
      );
    }
    if (options.keys === undefined) {
      logger.warn(
        'parley: no keys are configured, so an ephemeral one is used. Flows end when this process does, and no ' +
          'other instance can go on with them. Make a key with `parley keygen` and set PARLEY_KEYS on every instance.',
      );
    }
  }

  /**
   * Puts the gate in front of a server's handlers, once for each server; under `createMcpHandler`, that is in
   * the factory.
   *
   * @throws ConfigurationError when the server is attached already (by another copy of this library, too), has a
   * handler for tools, prompts or resources that was set by hand, has no name while `audience` is not set, or is
   * configured with the SDK's own `requestState.verify`.
   */
  attach(mcp: McpServer): Flows {
    const { server } = mcp;
    if (ATTACHED in server) throw new ConfigurationError('This server is attached already.');
    refuseVerify(server);
    const installAgain = takeOutHandlers(mcp);
    const registrations = new Registrations();
    const { carrier, keeper, tasks } = this.#storesFor(server);
    const runHost = this.#runHost;
    const gate = new Gate(this.#host, { carrier, keeper, server, registrations, runHost, tasks });
    gateHandlers(server, gate);
    if (tasks !== undefined) {
      server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } });
      tasks.install(server);
      keepTasksBare(server);
      takeSeat(mcp, { parley: this, tasks, runner: gate.runner });
    }
    installAgain();
    (server as { [ATTACHED]?: true })[ATTACHED] = true;
    return new Flows(mcp, gate, registrations);
  }

  /** Listens to events; the returned function stops it. What a listener throws is logged and otherwise ignored. */
  on<K extends keyof ParleyEvents>(name: K, listener: Listener<ParleyEvents[K]>): () => void {
    return this.#events.on(name, listener);
  }

  /** Keys are derived for each audience once, not once a request. */
  #storesFor(server: Server): Stores {
    const audience = this.#options.audience ?? nameOf(server);
    const known = this.#stores.get(audience);
    if (known !== undefined) return known;
    const stores = this.#makeStores(audience);
    this.#stores.set(audience, stores);
    return stores;
  }

  #makeStores(audience: string): Stores {
    const { now, ttl, deadline, pad, clockSkew, limits } = this.#host.settings;
    const { stateBytes, overflowBytes } = limits;
    const keys = this.#keys;
    let made: Keeper | undefined;
    const keeper = (): Keeper => (made ??= this.#makeKeeper(audience));
    // Only a ledger that was asked for: a process that restarts would strand flows whose journal was in its memory.
    const overflow = this.#options.ledger && {
      maxBytes: overflowBytes,
      put: (text: string, left: number) => keeper().putJournal(text, left + 2 * clockSkew),
      get: (reference: string) => keeper().getJournal(reference),
    };
    const sealer = createSealer({ keys, audience, now, maxLength: Math.max(MAX_INBOUND, stateBytes) });
    const times = { now, ttl, deadline, clockSkew };
    return {
      keeper,
      carrier: new TokenCarrier({ sealer, ...times, stateBytes, pad, overflow }),
      tasks: this.#options.tasks?.open({
        limits,
        clockSkew,
        lease: this.#host.settings.lease,
        audience,
        keys,
        emit: (name, make) => this.#events.emit(name, make),
        runHost: this.#runHost,
        principal: async (ctx) => principalDigest(await this.#host.principal(ctx)),
        once: (flow, left, request) => keeper().once(flow, left, request),
      }),
    };
  }

  #makeKeeper(audience: string): Keeper {
    const { now, ledgerTimeout: timeout, patience, lease, logger } = this.#host.settings;
    const warn = (message: string): void => logger.warn(`parley: ${message}`);
    this.#ledger ??= this.#options.ledger ?? defaultLedger(now, warn);
    const sealer = createSealer({
      keys: this.#keys,
      audience: `${audience} ledger`,
      now,
      maxLength: MAX_RECORD,
    });
    return new Keeper({ ledger: this.#ledger, sealer, audience, timeout, patience, lease, warn });
  }
}

/** What is made once for each audience. */
interface Stores {
  readonly carrier: TokenCarrier;
  /** Made on first use: most servers do nothing only once. */
  readonly keeper: () => Keeper;
  readonly tasks: ServerTasks | undefined;
}

function defaultLedger(now: () => number, warn: (message: string) => void): Ledger {
  warn(
    'no ledger is configured, so what must happen at most once is kept in the memory of this process: it holds neither ' +
      'for other instances nor over a restart. Pass one as `ledger`.',
  );
  return memoryLedger({ now });
}

/** Users of one client cannot be told apart without a subject: better said than found out. */
function defaultPrincipal(logger: Logger): GateHost['principal'] {
  let warned = false;
  return (ctx) => {
    const principal = principalOf(ctx);
    if (principal !== null && principal.subject === undefined && !warned) {
      warned = true;
      logger.warn(
        'parley: requests are authenticated without a subject (authInfo.extra.sub), so states are bound to the client ' +
          'and not to its user. Have the verifier set it, or set the option `principal`.',
      );
    }
    return principal;
  };
}

/** Replaces `setRequestHandler` on this one server, so that whatever is installed from now on is wrapped. */
function gateHandlers(server: Server, gate: Gate): void {
  const original = server.setRequestHandler.bind(server) as (...args: unknown[]) => void;
  const gated = (method: string, first: unknown, second?: unknown): void => {
    if (!GATED.has(method)) {
      original(method, first, second);
      return;
    }
    const gatedMethod = method as GatedMethod;
    if (typeof first === 'function') {
      original(method, gate.wrap(gatedMethod, first as SdkHandler));
      return;
    }
    // With schemas of its own a handler gets what these make of the params; the gate looks at what was sent.
    const { params: schema } = first as { params: StandardSchemaV1 };
    const handler = second as (params: unknown, ctx: ServerContext) => Result | Promise<Result>;
    original(
      method,
      gate.wrap(gatedMethod, async ({ params }, ctx) => {
        const parsed = await schema['~standard'].validate({ ...params });
        if (parsed.issues === undefined) return await handler(parsed.value, ctx);
        const reason = parsed.issues.map(({ message }) => message).join(', ');
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}: ${reason}`);
      }),
    );
  };
  server.setRequestHandler = gated;
  gateFallback(server, gate);
}

/**
 * The handler of last resort can serve gated methods too. It is a property, so it is wrapped when the server is
 * connected. (An accessor in its place would see it at once, and make every use of the server slower.)
 */
function gateFallback(server: Server, gate: Gate): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const { fallbackRequestHandler: fallback } = server;
    if (fallback !== undefined) {
      server.fallbackRequestHandler = (request, ctx) => {
        if (!GATED.has(request.method)) return fallback(request, ctx);
        const handler: SdkHandler = (_request, innerCtx) => fallback(request, innerCtx);
        return gate.wrap(request.method as GatedMethod, handler)(request as GatedRequest, ctx);
      };
    }
    return connect(transport);
  };
}

/** The SDK would hand our tokens to that hook first, and reject every one of them. It keeps the option private. */
function refuseVerify(server: Server): void {
  if ((server as unknown as { _requestStateVerify?: unknown })._requestStateVerify !== undefined) {
    throw new ConfigurationError(
      `This server is constructed with 'requestState.verify'. Parley opens and seals every state itself: remove that ` +
        `option and return the plain state from inputRequired().`,
    );
  }
}

/** The SDK keeps the name private, but gives it to every client. */
function nameOf(server: Server): string {
  const { name } = (server as unknown as { _serverInfo?: { name?: unknown } })._serverInfo ?? {};
  if (typeof name !== 'string' || name === '') {
    throw new ConfigurationError(`The name of this server is not known; set the option 'audience'.`);
  }
  return name;
}
