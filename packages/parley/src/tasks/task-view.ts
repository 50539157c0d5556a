import type { CreateTaskResultV2, DetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import type { TaskHead } from './head.js';
import { NOTHING_PARKED, type OpenQuestion, type ParkedQuestions } from './questions.js';
import type { TaskRow } from './store.js';
import type { StoredOutcome } from './task-runner.js';
import { wireDigest, type TaskSealer } from './task-sealer.js';

/** What a client shows beside a status, in characters: the author's own messages are no longer either. */
const MAX_MESSAGE = 1_000;

type Seed = Pick<
  DetailedTaskV2,
  'taskId' | 'createdAt' | 'lastUpdatedAt' | 'ttlMs' | 'pollIntervalMs' | 'statusMessage'
>;

/** The questions of a task that have no answer yet. */
export async function openQuestions(sealer: TaskSealer, row: TaskRow): Promise<readonly OpenQuestion[]> {
  if (row.parked === undefined) return NOTHING_PARKED.open;
  const { open } = JSON.parse(await sealer.open(row.id, 'parked', row.parked)) as ParkedQuestions;
  const answered = new Set(row.answered);
  return open.filter(({ wire }) => !answered.has(wireDigest(row.id, wire)));
}

/** What `tasks/get` shows (TASK-15, TASK-16). */
export async function detailedTask(sealer: TaskSealer, row: TaskRow): Promise<DetailedTaskV2> {
  const seed = seedOf(row, await messageOf(sealer, row));
  if (row.state === 'cancelled') return { ...seed, status: 'cancelled' };
  if (row.state === 'active') {
    const open = await openQuestions(sealer, row);
    if (open.length === 0) return { ...seed, status: 'working' };
    return { ...seed, status: 'input_required', inputRequests: inputRequests(open) };
  }
  const outcome = JSON.parse(await sealer.open(row.id, 'outcome', row.outcome ?? '')) as StoredOutcome;
  if ('result' in outcome) return { ...seed, status: 'completed', result: outcome.result } as DetailedTaskV2;
  const { error } = outcome;
  const statusMessage = error.message.slice(0, MAX_MESSAGE);
  return { ...seed, statusMessage, status: 'failed', error } as DetailedTaskV2;
}

/** What the call is answered with that has become a task: no more than where it stands (TASK-08). */
export async function createdTask(sealer: TaskSealer, row: TaskRow): Promise<CreateTaskResultV2> {
  const { taskId, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, status, statusMessage } =
    await detailedTask(sealer, row);
  return {
    resultType: 'task',
    taskId,
    status,
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    ...(statusMessage !== undefined && { statusMessage }),
  };
}

/** The author's last word on where the task stands, as long as it does not stand at its end. */
async function messageOf(
  sealer: TaskSealer,
  { id, state, head, note }: TaskRow,
): Promise<string | undefined> {
  if (state !== 'active') return undefined;
  if (note !== undefined) return await sealer.open(id, 'note', note);
  return (await openHead(sealer, { id, head })).message;
}

/** Digest of who created a task, as it was sealed. */
export async function ownerOf(sealer: TaskSealer, row: TaskRow): Promise<string> {
  return (await openHead(sealer, row)).principal;
}

async function openHead(sealer: TaskSealer, { id, head }: Pick<TaskRow, 'id' | 'head'>): Promise<TaskHead> {
  return JSON.parse(await sealer.open(id, 'head', head)) as TaskHead;
}

function seedOf({ id, createdAt, updatedAt, ttl, pollInterval }: TaskRow, message: string | undefined): Seed {
  return {
    taskId: id,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
    ...(message !== undefined && { statusMessage: message }),
  };
}

function inputRequests(open: readonly OpenQuestion[]): Record<string, never> {
  return Object.fromEntries(open.map(({ wire, method, params }) => [wire, { method, params }])) as Record<
    string,
    never
  >;
}
