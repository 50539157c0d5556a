/** Runs the tasks of nightly.ts. Start as many as you like; one that dies is replaced by the others. */
import { startWorker } from 'mcp-parley/tasks';
import { log, nightlyServer, parley } from './nightly.js';

await startWorker(parley, nightlyServer);
log('working');

// Started by the demo, it ends with it, however the demo ends.
process.once('disconnect', () => process.exit());
