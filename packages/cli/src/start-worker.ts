import type * as Tasks from 'mcp-parley/tasks';
import type { Worker } from './commands/worker.js';
import { importAs } from './import-as.js';
import type { ServerModule } from './server-module.js';

/**
 * Starts a worker with the `mcp-parley` that the module's own Parley was made with: another copy of the package does not
 * know what is inside of it.
 *
 * @throws what `startWorker` throws: ConfigurationError when the Parley has no tasks, or its database no tables.
 */
export async function startWorker(
  { url, parley, factory }: ServerModule,
  options: { readonly concurrency: number },
): Promise<Worker> {
  const theirs = await importAs<typeof Tasks>(url, 'mcp-parley/tasks');
  const { startWorker: start } = theirs ?? (await import('mcp-parley/tasks'));
  return await start(parley as Parameters<typeof start>[0], factory as Parameters<typeof start>[1], options);
}
