import type { Fence, NewTask, Parked, TaskClaim, TaskRow, TaskStore } from '../tasks/index.js';
import { ensure, equal, random, sleep } from './assertions.js';

/** A store of tasks under test. */
export interface TaskStoreUnderTest {
  readonly store: TaskStore;
  /** The store's clock, in ms since 1970. Default: the system's. */
  readonly now?: () => number;
  /** Moves the store's clock on by so many ms. Without it, the cases wait, for at most 300 ms each. */
  readonly pass?: (ms: number) => Promise<void>;
}

/** One thing that a store of tasks must do. */
export interface TaskStoreCase {
  readonly name: string;
  /** Makes a store (it may share its tables with others), tries it, and closes it. Rejects when it fails. */
  readonly run: (make: () => Promise<TaskStoreUnderTest>) => Promise<void>;
}

/** Longer than any test takes. */
const LONG = 600_000;
/** What is waited for, and how long: real stores have real clocks. */
const SHORT = 60;
const OVER_SHORT = 150;
/** How long a store may take to hand out what is due, in ms. */
const PATIENCE = 10_000;

interface Bench {
  readonly store: TaskStore;
  readonly now: () => number;
  /** Waits until what lasts for `SHORT` is over. */
  readonly pass: () => Promise<void>;
  /** A task that nobody else has. */
  readonly task: (more?: Partial<NewTask>) => NewTask;
  /** Creates one, and gives its id. */
  readonly create: (more?: Partial<NewTask>) => Promise<string>;
  /** Takes what is due until some ids came up, and stops. */
  readonly takes: (...ids: readonly string[]) => Promise<void>;
}

/**
 * What every store of tasks must do, invariants T1 to T7 of the interface. Framework-neutral:
 *
 * ```ts
 * for (const { name, run } of taskStoreCases) it(name, () => run(async () => ({ store: await myStore() })));
 * ```
 */
export const taskStoreCases: readonly TaskStoreCase[] = [
  testCase('T1: a task that was created can be read, claimed, and is due', async (bench) => {
    const { store, task } = bench;
    const made = task({ journal: 'first lines' });
    const { id, created } = await store.create(made);
    equal(id, made.id, 'its id');
    equal(created, true, 'created');
    const row = await read(store, id);
    equal(row.state, 'active', 'its state');
    equal(row.principal, made.principal, 'its principal');
    equal(row.head, made.head, 'its head');
    equal(row.createdAt, made.createdAt, 'when it was created');
    equal(row.updatedAt, made.createdAt, 'when it changed last');
    equal(row.ttl, made.ttl, 'its ttl');
    equal(row.pollInterval, made.pollInterval, 'its poll interval');
    equal(row.parked, undefined, 'what is parked');
    equal(row.answered.length, 0, 'answers');
    await bench.takes(id);
    const claim = await claimed(store, id);
    equal(claim.head, made.head, 'the head of its claim');
    equal(claim.journal.join(), 'first lines', 'the journal of its claim');
    equal(claim.expiresAt, made.expiresAt, 'its end');
    equal(claim.runs, 1, 'runs');
  }),

  testCase('T1: of 20 tasks of one flow made at the same time, one is made', async ({ store, task }) => {
    const { flow } = task();
    const results = await Promise.all(Array.from({ length: 20 }, () => store.create(task({ flow }))));
    equal(results.filter(({ created }) => created).length, 1, 'tasks created');
    equal(new Set(results.map(({ id }) => id)).size, 1, 'ids given');
  }),

  testCase('T1: the same flow gives its task also after that ended', async ({ store, task }) => {
    const made = task();
    await store.create(made);
    const claim = await claimed(store, made.id);
    equal(await store.finish(claim, { state: 'completed', outcome: 'done' }), true, 'finished');
    const again = await store.create(task({ flow: made.flow }));
    equal(again.id, made.id, 'the id');
    equal(again.created, false, 'created');
  }),

  testCase('T1: a task without a journal begins with none', async ({ store, create }) => {
    const id = await create();
    equal((await claimed(store, id)).journal.length, 0, 'chunks');
  }),

  testCase('T2: fences grow, and a stale one writes nothing', async (bench) => {
    const { store, create, pass } = bench;
    const id = await create();
    const first = await claimed(store, id, SHORT);
    await pass();
    const second = await claimed(store, id);
    ensure(second.fence > first.fence, 'the fence grows');
    await refused(store, first);
    equal(await store.append(second, 'mine'), true, 'the holder appends');
    equal((await read(store, id)).note, undefined, 'what the stale one noted');
    equal((await read(store, id)).state, 'active', 'the state');
    equal(await store.extend(second, SHORT), 'held', 'the holder extends');
    await pass();
    equal((await claimed(store, id)).journal.join(), 'mine', 'the journal');
  }),

  testCase('T2: a claim that was given back writes nothing any more', async ({ store, create, now }) => {
    const parked = await create();
    const first = await claimed(store, parked);
    equal(await store.park(first, { parked: 'p', wires: ['w'] }), true, 'parked');
    await refused(store, first);
    const released = await create();
    const second = await claimed(store, released);
    equal(await store.release(second, now() + LONG), true, 'released');
    await refused(store, second);
    const ended = await create();
    const third = await claimed(store, ended);
    equal(await store.finish(third, { state: 'failed', outcome: 'o' }), true, 'ended');
    await refused(store, third);
    equal((await read(store, ended)).outcome, 'o', 'its outcome');
  }),

  testCase('T3: of 20 claims at the same time, one is granted', async ({ store, create }) => {
    const id = await create();
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim(id, LONG)));
    equal(claims.filter((claim) => claim !== undefined).length, 1, 'claims granted');
  }),

  testCase('T3: a claim lapses at its lease, and the next goes on from what was appended', async (bench) => {
    const { store, create, pass } = bench;
    const id = await create({ journal: 'a' });
    const first = await claimed(store, id, LONG);
    equal(await store.append(first, 'b'), true, 'appended');
    equal(await store.append(first, 'c'), true, 'appended');
    equal(await store.extend(first, SHORT), 'held', 'extended');
    await pass();
    await bench.takes(id);
    const second = await claimed(store, id, SHORT);
    equal(second.journal.join(), 'a,b,c', 'the journal');
    equal(second.runs, 1, 'runs since the last progress');
    await pass();
    equal((await claimed(store, id, SHORT)).runs, 2, 'runs after one that died without progress');
    await pass();
    equal((await claimed(store, id)).runs, 3, 'runs after another');
  }),

  testCase('T3: an extended claim does not lapse', async ({ store, create, pass }) => {
    const id = await create();
    const claim = await claimed(store, id, SHORT);
    equal(await store.extend(claim, LONG), 'held', 'extended');
    await pass();
    equal((await store.claim(id, LONG))?.id, undefined, 'another claim');
  }),

  testCase('T3: a claim that was given back is due at its time, and does not count', async (bench) => {
    const { store, create, now } = bench;
    const id = await create();
    const first = await claimed(store, id);
    equal(await store.release(first, now() + SHORT), true, 'released');
    await bench.pass();
    await bench.takes(id);
    equal((await claimed(store, id)).runs, 1, 'runs');
  }),

  testCase('T4: an answer is seen by the next read, makes the task due, and counts once', async (bench) => {
    const { store, create } = bench;
    const id = await create();
    await park(store, id, { parked: 'p', wires: ['a', 'b'] });
    await store.answer(id, [{ wire: 'a', value: 'one' }]);
    equal((await read(store, id)).answered.join(), 'a', 'wires answered');
    await bench.takes(id);
    await store.answer(id, [{ wire: 'a', value: 'another' }]);
    const claim = await claimed(store, id);
    equal(claim.parked, 'p', 'what is parked');
    equal(JSON.stringify(claim.answers), JSON.stringify([{ wire: 'a', value: 'one' }]), 'the answers');
  }),

  testCase('T4: of 20 answers under one wire at the same time, one counts', async ({ store, create }) => {
    const id = await create();
    await park(store, id, { parked: 'p', wires: ['a'] });
    const values = Array.from({ length: 20 }, (_, index) => `value ${index}`);
    await Promise.all(values.map((value) => store.answer(id, [{ wire: 'a', value }])));
    const { answers } = await claimed(store, id);
    equal(answers.length, 1, 'answers');
    ensure(values.includes(answers[0]?.value ?? ''), 'it is one of them');
  }),

  testCase('T4: answers under wires that are not parked are ignored', async ({ store, create }) => {
    const id = await create();
    await store.answer(id, [{ wire: 'early', value: 'v' }]);
    await park(store, id, { parked: 'p', wires: ['a'] });
    await store.answer(id, [{ wire: 'early', value: 'v' }]);
    await store.answer(`${id.slice(1)}x`, [{ wire: 'a', value: 'v' }]);
    equal((await read(store, id)).answered.length, 0, 'answers');
  }),

  testCase(
    'T4: an answer that comes while a run is under way makes the task due when that parks',
    async (bench) => {
      const { store, create } = bench;
      const id = await create();
      await park(store, id, { parked: 'p', wires: ['a', 'b'] });
      await store.answer(id, [{ wire: 'a', value: 'one' }]);
      const run = await claimed(store, id);
      await store.answer(id, [{ wire: 'b', value: 'two' }]);
      equal((await read(store, id)).answered.toSorted().join(), 'a,b', 'wires answered');
      equal(await store.park(run, { parked: 'q', wires: ['b'] }), true, 'parked');
      equal((await read(store, id)).answered.join(), 'b', 'wires answered after it parked');
      await bench.takes(id);
      const next = await claimed(store, id);
      equal(next.answers.map(({ value }) => value).join(), 'two', 'the answers');
    },
  ),

  testCase('T5: a task that ended stays as it ended', async ({ store, create }) => {
    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      const id = await create();
      const claim = await claimed(store, id);
      equal(await store.finish(claim, { state, outcome: state }), true, 'finished');
      await store.cancel(id);
      await store.answer(id, [{ wire: 'a', value: 'v' }]);
      equal(await store.finish(claim, { state: 'failed', outcome: 'other' }), false, 'finished again');
      equal((await store.claim(id, LONG))?.id, undefined, 'a claim');
      const row = await read(store, id);
      equal(row.state, state, 'its state');
      equal(row.outcome, state, 'its outcome');
      ensure(row.updatedAt >= row.createdAt, 'it changed when it ended');
    }
  }),

  testCase('T5: a task that nobody runs is cancelled at once', async ({ store, create }) => {
    const fresh = await create();
    const parked = await create();
    await park(store, parked, { parked: 'p', wires: ['a'] });
    for (const id of [fresh, parked]) {
      await store.cancel(id);
      equal((await read(store, id)).state, 'cancelled', 'its state');
      equal((await store.claim(id, LONG))?.id, undefined, 'a claim');
    }
    await store.cancel(`${fresh.slice(1)}x`);
  }),

  testCase('T5: a worker learns that its task is to stop, and writes no more', async ({ store, create }) => {
    const id = await create();
    const claim = await claimed(store, id);
    await store.cancel(id);
    equal(await store.extend(claim, LONG), 'cancelled', 'extended');
    equal(await store.append(claim, 'more'), false, 'appended');
    equal(await store.note(claim, 'note'), false, 'noted');
    equal(await store.park(claim, { parked: 'p', wires: [] }), false, 'parked');
    equal(await store.finish(claim, { state: 'cancelled' }), true, 'finished');
    equal((await read(store, id)).state, 'cancelled', 'its state');
  }),

  testCase(
    'T5: what was done before a worker learned of the cancellation counts',
    async ({ store, create }) => {
      const id = await create();
      const claim = await claimed(store, id);
      await store.cancel(id);
      equal(await store.finish(claim, { state: 'completed', outcome: 'done' }), true, 'finished');
      equal((await read(store, id)).state, 'completed', 'its state');
    },
  ),

  testCase('T5: a cancelled task whose worker died is cancelled', async ({ store, create, pass }) => {
    const id = await create();
    await claimed(store, id, SHORT);
    await store.cancel(id);
    await pass();
    equal((await store.claim(id, LONG))?.id, undefined, 'a claim');
    equal((await read(store, id)).state, 'cancelled', 'its state');
  }),

  testCase('T6: an expired task is gone, and its flow makes no other', async (bench) => {
    const { store, task, now, pass } = bench;
    const made = task({ ttl: SHORT, expiresAt: now() + SHORT, markUntil: now() + LONG });
    await store.create(made);
    await pass();
    equal((await store.read(made.id))?.id, undefined, 'what is read');
    equal((await store.claim(made.id, LONG))?.id, undefined, 'a claim');
    await store.answer(made.id, [{ wire: 'a', value: 'v' }]);
    await store.cancel(made.id);
    const again = await store.create(task({ flow: made.flow }));
    equal(again.created, false, 'created');
    equal(again.id, made.id, 'its id');
  }),

  testCase(
    'T6: a task that expires while it runs is not written any more',
    async ({ store, task, now, pass }) => {
      const made = task({ ttl: SHORT, expiresAt: now() + SHORT, markUntil: now() + SHORT });
      await store.create(made);
      const claim = await store.claim(made.id, LONG);
      await pass();
      if (claim !== undefined) await refused(store, claim);
      equal((await store.read(made.id))?.id, undefined, 'what is read');
    },
  ),

  testCase('T6: a flow whose mark is over may make a task again', async ({ store, task, now, pass }) => {
    const made = task({ ttl: SHORT, expiresAt: now() + SHORT, markUntil: now() + SHORT });
    await store.create(made);
    await pass();
    const again = task({ flow: made.flow });
    const { id, created } = await store.create(again);
    equal(created, true, 'created');
    equal(id, again.id, 'its id');
  }),

  testCase('T7: a parked task is due when it said', async (bench) => {
    const { store, create, now } = bench;
    const id = await create();
    await park(store, id, { parked: 'p', wires: [], dueAt: now() + SHORT });
    await bench.pass();
    await bench.takes(id);
    equal((await claimed(store, id)).parked, 'p', 'what is parked');
  }),

  testCase('T7: parking gives the claim back and replaces what was parked', async ({ store, create }) => {
    const id = await create({ journal: 'a' });
    const first = await claimed(store, id);
    equal(await store.append(first, 'b'), true, 'appended');
    equal(await store.park(first, { parked: 'p', wires: ['a', 'b'] }), true, 'parked');
    await store.answer(id, [{ wire: 'a', value: 'v' }]);
    const second = await claimed(store, id);
    equal(second.journal.join(), 'a,b', 'the journal as it was appended');
    equal((await read(store, id)).parked, 'p', 'what readers see while a run is under way');
    equal(await store.park(second, { parked: 'q', wires: ['c'], journal: 'all' }), true, 'parked');
    const row = await read(store, id);
    equal(row.parked, 'q', 'what is parked');
    equal(row.answered.length, 0, 'answers under wires that are parked no more');
    const third = await claimed(store, id);
    equal(third.journal.join(), 'all', 'the journal that replaced the other');
    equal(third.answers.length, 0, 'answers');
    equal(third.runs, 1, 'runs');
    equal(await store.append(third, 'more'), true, 'appended');
  }),

  testCase('what was noted last is what readers see', async ({ store, create }) => {
    const id = await create();
    const claim = await claimed(store, id);
    equal(await store.note(claim, 'one'), true, 'noted');
    equal(await store.note(claim, 'two'), true, 'noted');
    equal((await read(store, id)).note, 'two', 'the note');
  }),

  testCase('takes every task that is due, and stops when it is told to', async (bench) => {
    const { store, create } = bench;
    const ids = await Promise.all(Array.from({ length: 20 }, () => create()));
    const ran: string[] = [];
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => void (release = resolve));
    let running = 0;
    let most = 0;
    const worker = await store.work(
      async (id) => {
        if (!ids.includes(id)) return;
        running += 1;
        most = Math.max(most, running);
        const claim = await store.claim(id, LONG);
        await held;
        if (claim !== undefined) await store.finish(claim, { state: 'completed', outcome: 'o' });
        ran.push(id);
        running -= 1;
      },
      { concurrency: 3 },
    );
    await until(() => running === 3, 'three run at a time');
    release?.();
    await until(() => new Set(ran).size === ids.length, 'all of them ran');
    equal(most, 3, 'runs at a time');
    await worker.stop();
    equal(running, 0, 'runs after it stopped');
    const late = await create();
    equal((await read(store, late)).state, 'active', 'a task that nobody takes');
    await bench.takes(late);
  }),

  testCase('a run that rejects is tried again', async ({ store, create, pass }) => {
    const id = await create();
    let tries = 0;
    const worker = await store.work(
      async (due) => {
        if (due !== id) return;
        tries += 1;
        if (tries === 1) throw new Error('once');
      },
      { concurrency: 1 },
    );
    await until(() => tries >= 2, 'it was tried again', pass);
    await worker.stop();
  }),
];

function testCase(name: string, check: (bench: Bench) => Promise<void>): TaskStoreCase {
  return {
    name,
    async run(make) {
      const { store, now = Date.now, pass } = await make();
      const task = (more: Partial<NewTask> = {}): NewTask => {
        const createdAt = now();
        return {
          id: random(16),
          flow: random(32),
          principal: random(32),
          head: 'head',
          createdAt,
          ttl: LONG,
          expiresAt: createdAt + LONG,
          pollInterval: 1_000,
          markUntil: createdAt + LONG,
          ...more,
        };
      };
      const create = async (more?: Partial<NewTask>): Promise<string> => (await store.create(task(more))).id;
      try {
        await check({
          store,
          now,
          task,
          create,
          takes: (...ids) => takes(store, ids),
          pass: () => (pass === undefined ? sleep(OVER_SHORT) : pass(OVER_SHORT)),
        });
      } finally {
        await store.close();
      }
    },
  };
}

async function read(store: TaskStore, id: string): Promise<TaskRow> {
  const row = await store.read(id);
  if (row === undefined) throw new Error('the task is there to be read');
  return row;
}

async function claimed(store: TaskStore, id: string, lease = LONG): Promise<TaskClaim> {
  const claim = await store.claim(id, lease);
  if (claim === undefined) throw new Error('the task can be claimed');
  return claim;
}

async function park(store: TaskStore, id: string, parked: Parked): Promise<void> {
  equal(await store.park(await claimed(store, id), parked), true, 'parked');
}

/** Every write of a claim that does not hold any more. */
async function refused(store: TaskStore, claim: Fence): Promise<void> {
  equal(await store.append(claim, 'stale'), false, 'a stale claim appends');
  equal(await store.note(claim, 'stale'), false, 'a stale claim notes');
  equal(await store.park(claim, { parked: 'stale', wires: [] }), false, 'a stale claim parks');
  equal(await store.finish(claim, { state: 'completed', outcome: 'stale' }), false, 'a stale claim finishes');
  equal(await store.release(claim, 0), false, 'a stale claim is given back');
  equal(await store.extend(claim, LONG), 'lost', 'a stale claim is extended');
}

async function takes(store: TaskStore, ids: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  const worker = await store.work(async (id) => void seen.add(id), { concurrency: 4 });
  await until(() => ids.every((id) => seen.has(id)), 'what is due is taken');
  await worker.stop();
}

async function until(holds: () => boolean, what: string, pass?: () => Promise<void>): Promise<void> {
  for (let waited = 0; waited < PATIENCE; waited += 5) {
    if (holds()) return;
    await pass?.();
    await sleep(5);
  }
  throw new Error(`not so within ${PATIENCE} ms: ${what}`);
}
