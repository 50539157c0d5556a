import { ProtocolError, ProtocolErrorCode, type Result, type Server } from '@modelcontextprotocol/server';
import { ConfigurationError, TaskLimit } from '../errors.js';
import type { ServerTasks, TaskHost, Tasks, TaskSeed, ToolRunner } from '../gate/index.js';
import { encodeBase64url, randomBytes } from '../seal/index.js';
import { headOf } from './head.js';
import type { NewTask, TaskRow, TaskStore, TaskWorker, WorkOptions } from './store.js';
import { TaskMethods } from './task-methods.js';
import { TaskRunner } from './task-runner.js';
import { flowDigest, TaskSealer } from './task-sealer.js';
import { createdTask } from './task-view.js';

/** What a store of tasks is used with. Times in ms. */
export interface StoredTasksOptions {
  /** How long a task and its result are kept, unless `flow.detach` says otherwise. */
  readonly ttl: number;
  /** How often clients are asked to look, unless `flow.detach` says otherwise. */
  readonly pollInterval: number;
  /**
   * Where tasks are noted with the tools of the request that made them, for a store whose tasks end with this process.
   * Without it they are run by workers that make a server of their own.
   */
  readonly makers?: Map<string, Maker>;
}

/** What runs a task in the process that made it: never the tools of another request, which may know another caller. */
export interface Maker {
  readonly tasks: AudienceTasks;
  readonly runner: ToolRunner;
}

/** Tasks over a store: all that `memoryTasks` and `postgresTasks` have in common. */
export class StoredTasks implements Tasks {
  readonly #store: TaskStore;
  readonly #options: StoredTasksOptions;
  #audience: string | undefined;

  /** @throws ConfigurationError when a time is not a positive whole number. */
  constructor(store: TaskStore, options: StoredTasksOptions) {
    checkPositive('ttl', options.ttl);
    checkPositive('pollInterval', options.pollInterval);
    this.#store = store;
    this.#options = options;
  }

  /** @throws ConfigurationError for a second audience, where workers could not tell whose tasks they take. */
  open(host: TaskHost): AudienceTasks {
    this.#audience ??= host.audience;
    if (this.#options.makers === undefined && this.#audience !== host.audience) {
      throw new ConfigurationError(
        'These tasks are used by a server of another name (or audience) already. Give each its own store of tasks.',
      );
    }
    return new AudienceTasks(host, this.#store, this.#options);
  }

  /** Lets go of what the store holds open. */
  async close(): Promise<void> {
    await this.#store.close();
  }
}

/** The tasks of one audience. */
export class AudienceTasks implements ServerTasks {
  readonly #host: TaskHost;
  readonly #store: TaskStore;
  readonly #sealer: TaskSealer;
  readonly #options: StoredTasksOptions;
  readonly #methods: TaskMethods;
  readonly #runner: TaskRunner;

  constructor(host: TaskHost, store: TaskStore, options: StoredTasksOptions) {
    this.#host = host;
    this.#store = store;
    this.#options = options;
    this.#sealer = new TaskSealer(host);
    this.#methods = new TaskMethods(host, store, this.#sealer);
    this.#runner = new TaskRunner(host, store, this.#sealer);
  }

  install(server: Server): void {
    this.#methods.install(server);
  }

  async begin(
    seed: TaskSeed,
    runner: ToolRunner,
  ): Promise<{ readonly result: Result; readonly created: boolean }> {
    try {
      const { task, id, created } = await this.#create(seed, runner);
      // A new one need not be read: were that to fail, the client would send its request again, and make another.
      const row = created ? rowOf(task) : await this.#store.read(id);
      if (row === undefined) throw taskOver();
      return { result: await createdTask(this.#sealer, row), created };
    } catch (error) {
      throw this.#asWireError(error);
    }
  }

  /** Runs a task, if it can be claimed; see `TaskRunner`. */
  async run(id: string, runner: ToolRunner | undefined): Promise<void> {
    await this.#runner.run(id, runner);
  }

  /**
   * Takes what is due, and runs it with the tools of one server.
   *
   * @throws ConfigurationError when the tasks are run where they are made.
   */
  async work(runner: ToolRunner, options: WorkOptions): Promise<TaskWorker> {
    if (this.#options.makers !== undefined) {
      throw new ConfigurationError('These tasks are run by the process that makes them, and need no worker.');
    }
    return await this.#store.work((id) => this.run(id, runner), options);
  }

  async #create(
    seed: TaskSeed,
    runner: ToolRunner,
  ): Promise<{ readonly task: NewTask; readonly id: string; readonly created: boolean }> {
    const { runHost, clockSkew, audience } = this.#host;
    const { identity, journal, options } = seed;
    const { ttl = this.#options.ttl, pollInterval = this.#options.pollInterval } = options;
    const id = encodeBase64url(randomBytes(16));
    const createdAt = runHost.now();
    const expiresAt = createdAt + ttl;
    const head = headOf(seed, encodeBase64url(identity.flow));
    const task = {
      id,
      flow: flowDigest(audience, identity.flow),
      principal: head.principal,
      head: await this.#sealer.seal(id, 'head', JSON.stringify(head)),
      ...(journal.length > 0 && { journal: await this.#sealer.seal(id, 'journal 0', journal.join('\n')) }),
      createdAt,
      ttl,
      expiresAt,
      pollInterval,
      // A flow that began in this very round has an id that no other request can come with.
      markUntil: identity.round > 1 ? Math.max(expiresAt, identity.deadline + 2 * clockSkew) : expiresAt,
    };
    const { makers } = this.#options;
    // Before it is stored: then it may run at once.
    makers?.set(id, { tasks: this, runner });
    const made = await this.#store.create(task).catch((error: unknown) => {
      makers?.delete(id);
      throw error;
    });
    if (!made.created) makers?.delete(id);
    return { task, ...made };
  }

  #asWireError(error: unknown): unknown {
    if (error instanceof ProtocolError) return error;
    const reason = error instanceof Error ? error.message : 'unknown error';
    this.#host.runHost.warn(`a task could not be stored: ${reason}`);
    if (error instanceof TaskLimit) return new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    return new ProtocolError(
      ProtocolErrorCode.InternalError,
      'Temporarily unavailable: the task could not be stored. Send the same request again.',
      { reason: 'unavailable' },
    );
  }
}

/** How a reader would see a task that was stored just now. */
function rowOf({ id, principal, head, createdAt, ttl, pollInterval }: NewTask): TaskRow {
  return {
    id,
    state: 'active',
    principal,
    head,
    answered: [],
    createdAt,
    updatedAt: createdAt,
    ttl,
    pollInterval,
  };
}

function taskOver(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This call has become a task before, and the time of that is over.',
  );
}

function checkPositive(name: string, ms: number): void {
  if (Number.isSafeInteger(ms) && ms > 0) return;
  throw new ConfigurationError(`${name} must be a positive whole number of milliseconds.`);
}
