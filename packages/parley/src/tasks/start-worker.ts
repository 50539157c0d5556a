import type { McpServer } from '@modelcontextprotocol/server';
import { ConfigurationError } from '../errors.js';
import { taskSeatOf, type Parley } from '../gate/index.js';
import type { TaskWorker, WorkOptions } from './store.js';
import { AudienceTasks } from './stored-tasks.js';

/**
 * Runs tasks in this process, for stores that several processes share. Each process that makes tasks may be a worker,
 * too, or workers may run on machines of their own.
 *
 * ```ts
 * const worker = await startWorker(parley, makeServer, { concurrency: 16 });
 * process.once('SIGTERM', () => void worker.stop());
 * ```
 *
 * @param factory makes a server and attaches it to `parley`, as for requests. It is called once, and its flows run the
 * tasks of every caller: who asked for a task is in `flow.ctx.http.authInfo`.
 * @param options how many tasks may run at a time. Default 16.
 * @returns what stops it: no more tasks are taken, and those under way are seen through.
 * @throws ConfigurationError when the server was not attached to `parley`, or that has no tasks that need workers.
 */
export async function startWorker(
  parley: Parley,
  factory: () => McpServer | Promise<McpServer>,
  options: Partial<WorkOptions> = {},
): Promise<TaskWorker> {
  const { concurrency = 16 } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new ConfigurationError('concurrency must be a positive whole number.');
  }
  const seat = taskSeatOf(await factory());
  if (seat?.parley !== parley) {
    throw new ConfigurationError(
      'The server that the factory made is not attached to this Parley, or that has no tasks (new Parley({ tasks })).',
    );
  }
  if (!(seat.tasks instanceof AudienceTasks)) {
    throw new ConfigurationError('These tasks run themselves, and need no worker.');
  }
  return await seat.tasks.work(seat.runner, { concurrency });
}
