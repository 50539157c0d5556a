import { TaskLimit } from '../errors.js';
import { DueTasks } from './due-tasks.js';
import type {
  Fence,
  NewTask,
  Parked,
  StoredAnswer,
  TaskClaim,
  TaskEnd,
  TaskRow,
  TaskState,
  TaskStore,
  TaskWorker,
  WorkOptions,
} from './store.js';
import { unref } from './unref.js';

/** How a memory store is made. */
export interface MemoryStoreOptions {
  /** Tasks at most, ended ones that have not expired included. */
  readonly maxTasks: number;
  /** The clock, in ms since 1970. */
  readonly now: () => number;
  /** Told of a task that will never run again: it ended, or expired. */
  readonly onOver?: (id: string) => void;
}

interface Entry {
  readonly task: NewTask;
  state: TaskState;
  journal: readonly string[];
  parked: string | undefined;
  wires: readonly string[];
  answers: readonly StoredAnswer[];
  note: string | undefined;
  outcome: string | undefined;
  updatedAt: number;
  fence: number;
  /** End of the lease; 0 when nobody has claimed it. */
  lapses: number;
  runs: number;
  cancelled: boolean;
}

/** Expired tasks are looked for among this many each time that one is made: more than are added. */
const SWEEP = 4;

/** And among all of them this often, in ms: a server that nobody calls lets go of what it holds, too. */
const SWEEP_ALL = 60_000;

/** A run that failed is tried again after this many ms. */
const RETRY = 1_000;

/** Marks of flows whose task has expired, for each task that there may be. */
const MARKS_A_TASK = 10;

/** Tasks in the memory of this process. They end with it. Invariants T1 to T7 of `TaskStore`. */
export class MemoryTaskStore implements TaskStore {
  readonly #entries = new Map<string, Entry>();
  /** Which task a flow made (T1), and until when that counts. */
  readonly #marks = new Map<string, { readonly id: string; readonly until: number }>();
  readonly #due: DueTasks;
  readonly #options: MemoryStoreOptions;
  #sweeping: MapIterator<Entry> | undefined;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#due = new DueTasks(options.now);
  }

  /** Tasks held, expired ones that were not yet swept included. */
  get size(): number {
    return this.#entries.size;
  }

  async create(task: NewTask): Promise<{ readonly id: string; readonly created: boolean }> {
    const { now, maxTasks } = this.#options;
    this.#sweep(SWEEP);
    const mark = this.#marks.get(task.flow);
    if (mark !== undefined && mark.until > now()) return { id: mark.id, created: false };
    if (this.#isFull()) this.#sweep(Number.POSITIVE_INFINITY);
    if (this.#isFull()) throw new TaskLimit('tasks', maxTasks);
    this.#marks.set(task.flow, { id: task.id, until: Math.max(task.markUntil, task.expiresAt) });
    this.#entries.set(task.id, {
      task,
      state: 'active',
      journal: task.journal === undefined ? [] : [task.journal],
      parked: undefined,
      wires: [],
      answers: [],
      note: undefined,
      outcome: undefined,
      updatedAt: task.createdAt,
      fence: 0,
      lapses: 0,
      runs: 0,
      cancelled: false,
    });
    this.#due.at(task.id, now());
    this.#sweepLater();
    return { id: task.id, created: true };
  }

  async read(id: string): Promise<TaskRow | undefined> {
    const entry = this.#find(id);
    if (entry === undefined) return undefined;
    this.#settleLapsed(entry);
    const { task, state, parked, outcome, note, answers, updatedAt } = entry;
    return {
      id,
      state,
      principal: task.principal,
      head: task.head,
      ...(parked !== undefined && { parked }),
      ...(outcome !== undefined && { outcome }),
      ...(note !== undefined && { note }),
      answered: answers.map(({ wire }) => wire),
      createdAt: task.createdAt,
      updatedAt,
      ttl: task.ttl,
      pollInterval: task.pollInterval,
    };
  }

  async answer(id: string, answers: readonly StoredAnswer[]): Promise<void> {
    const entry = this.#find(id);
    if (entry?.state !== 'active' || entry.cancelled) return;
    const known = new Set(entry.answers.map(({ wire }) => wire));
    const taken = answers.filter(({ wire }) => {
      if (!entry.wires.includes(wire) || known.has(wire)) return false;
      known.add(wire);
      return true;
    });
    if (taken.length === 0) return;
    entry.answers = [...entry.answers, ...taken];
    this.#touch(entry);
    if (!this.#isClaimed(entry)) this.#due.at(id, this.#options.now());
  }

  async cancel(id: string): Promise<void> {
    const entry = this.#find(id);
    if (entry?.state !== 'active') return;
    entry.cancelled = true;
    this.#settleLapsed(entry);
  }

  async claim(id: string, lease: number): Promise<TaskClaim | undefined> {
    const entry = this.#find(id);
    if (entry === undefined) return undefined;
    this.#settleLapsed(entry);
    if (entry.state !== 'active' || this.#isClaimed(entry)) return undefined;
    entry.fence += 1;
    entry.runs += 1;
    entry.lapses = this.#options.now() + lease;
    this.#due.at(id, entry.lapses);
    const { task, journal, parked, answers, fence, runs } = entry;
    return {
      id,
      fence,
      head: task.head,
      journal,
      ...(parked !== undefined && { parked }),
      answers,
      expiresAt: task.expiresAt,
      runs,
    };
  }

  async extend(claim: Fence, lease: number): Promise<'held' | 'cancelled' | 'lost'> {
    const entry = this.#held(claim);
    if (entry === undefined) return 'lost';
    entry.lapses = this.#options.now() + lease;
    this.#due.at(claim.id, entry.lapses);
    return entry.cancelled ? 'cancelled' : 'held';
  }

  async append(claim: Fence, chunk: string): Promise<boolean> {
    return this.#write(claim, (entry) => {
      entry.journal = [...entry.journal, chunk];
      entry.runs = 0;
    });
  }

  async note(claim: Fence, message: string): Promise<boolean> {
    return this.#write(claim, (entry) => {
      entry.note = message;
      this.#touch(entry);
    });
  }

  async park(claim: Fence, { parked, wires, dueAt, journal }: Parked): Promise<boolean> {
    return this.#write(claim, (entry) => {
      entry.parked = parked;
      entry.wires = wires;
      entry.answers = entry.answers.filter(({ wire }) => wires.includes(wire));
      if (journal !== undefined) entry.journal = [journal];
      entry.runs = 0;
      entry.lapses = 0;
      this.#touch(entry);
      this.#due.at(claim.id, entry.answers.length > 0 ? this.#options.now() : dueAt);
    });
  }

  async finish(claim: Fence, { state, outcome }: TaskEnd): Promise<boolean> {
    const entry = this.#held(claim);
    if (entry === undefined) return false;
    this.#end(entry, state, outcome);
    return true;
  }

  async release(claim: Fence, dueAt: number): Promise<boolean> {
    const entry = this.#held(claim);
    if (entry === undefined) return false;
    entry.lapses = 0;
    entry.runs = Math.max(entry.runs - 1, 0);
    this.#due.at(claim.id, entry.answers.length > 0 ? Math.min(dueAt, this.#options.now() + RETRY) : dueAt);
    this.#settleLapsed(entry);
    return true;
  }

  async work(run: (id: string) => Promise<void>, { concurrency }: WorkOptions): Promise<TaskWorker> {
    return this.#due.work(async (id) => {
      try {
        await run(id);
      } catch {
        const entry = this.#find(id);
        if (entry?.state !== 'active') return;
        this.#due.at(id, Math.max(entry.lapses, this.#options.now() + RETRY));
      }
    }, concurrency);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#due.close();
    for (const entry of this.#entries.values()) this.#drop(entry);
    this.#marks.clear();
  }

  /** A task that has not expired (T6). */
  #find(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.task.expiresAt > this.#options.now()) return entry;
    this.#drop(entry);
    return undefined;
  }

  /** The task of a claim that is the latest, and was not given back (T2). */
  #held({ id, fence }: Fence): Entry | undefined {
    const entry = this.#find(id);
    return entry?.state === 'active' && entry.fence === fence && entry.lapses > 0 ? entry : undefined;
  }

  #write(claim: Fence, change: (entry: Entry) => void): boolean {
    const entry = this.#held(claim);
    if (entry === undefined || entry.cancelled) return false;
    change(entry);
    return true;
  }

  #isClaimed(entry: Entry): boolean {
    return entry.lapses > this.#options.now();
  }

  /** A task that was to stop, and that nobody runs (any more), is cancelled (T5). */
  #settleLapsed(entry: Entry): void {
    if (entry.cancelled && entry.state === 'active' && !this.#isClaimed(entry)) this.#end(entry, 'cancelled');
  }

  #end(entry: Entry, state: TaskEnd['state'], outcome?: string): void {
    entry.state = state;
    entry.outcome = outcome;
    entry.journal = [];
    entry.parked = undefined;
    entry.answers = [];
    entry.wires = [];
    entry.lapses = 0;
    this.#touch(entry);
    this.#over(entry.task.id);
  }

  #touch(entry: Entry): void {
    entry.updatedAt = Math.max(entry.updatedAt, this.#options.now());
  }

  #over(id: string): void {
    this.#due.forget(id);
    this.#options.onOver?.(id);
  }

  #drop({ task, state }: Entry): void {
    this.#entries.delete(task.id);
    if (state === 'active') this.#over(task.id);
    const mark = this.#marks.get(task.flow);
    if (mark?.id === task.id && mark.until <= this.#options.now()) this.#marks.delete(task.flow);
  }

  #isFull(): boolean {
    const { maxTasks } = this.#options;
    return this.#entries.size >= maxTasks || this.#marks.size >= maxTasks * (1 + MARKS_A_TASK);
  }

  /** Looks at some tasks, so that no call pays for all that have expired; when there is no room, at all. */
  #sweep(limit: number): void {
    const now = this.#options.now();
    if (limit > this.#entries.size) {
      for (const entry of this.#entries.values()) if (entry.task.expiresAt <= now) this.#drop(entry);
      for (const [flow, { until }] of this.#marks) if (until <= now) this.#marks.delete(flow);
      return;
    }
    for (let count = 0; count < limit; count += 1) {
      this.#sweeping ??= this.#entries.values();
      const { value, done } = this.#sweeping.next();
      if (done === true) {
        this.#sweeping = undefined;
        return;
      }
      if (value.task.expiresAt <= now) this.#drop(value);
    }
  }

  #sweepLater(): void {
    if (this.#sweeper !== undefined) return;
    this.#sweeper = setInterval(() => {
      this.#sweep(Number.POSITIVE_INFINITY);
      if (this.#entries.size + this.#marks.size > 0) return;
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }, SWEEP_ALL);
    unref(this.#sweeper);
  }
}
