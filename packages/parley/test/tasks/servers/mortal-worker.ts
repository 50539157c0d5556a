import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { poolOf } from '../../ledger/postgres-table.js';
import { storeOn } from '../postgres-harness.js';

/*
 * A worker that is killed: takes a task, appends to its journal, says so, and extends its claim until it is told on
 * stdin to write again. It says what came of that.
 */

const [url = '', schema = '', lease = '0'] = process.argv.slice(2);
const pool = poolOf(url, { max: 5 });
const store = storeOn(pool, schema);
const lines = createInterface({ input: process.stdin });

await store.work(
  async (id) => {
    const claim = await store.claim(id, Number(lease));
    if (claim === undefined) return;
    await store.append(claim, 'of the first worker');
    const extending = setInterval(() => void store.extend(claim, Number(lease)).catch(() => undefined), 100);
    process.stdout.write(`claimed ${claim.fence}\n`);
    await once(lines, 'line');
    clearInterval(extending);
    const isWritten = await store.append(claim, 'too late');
    const isEnded = await store.finish(claim, { state: 'completed', outcome: 'too late' });
    process.stdout.write(`wrote ${isWritten} ${isEnded}\n`);
  },
  { concurrency: 1 },
);
process.stdout.write('ready\n');
