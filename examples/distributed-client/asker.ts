/** `asker.ts <reference> <amount> <purpose>`: asks for an expense to be paid, and leaves the question to a manager. */
import { drive, Unanswered } from 'mcp-parley/client';
import { connect, openQueue, server } from './host.js';

const [reference = '', amount = '', purpose = ''] = process.argv.slice(2);
const queue = await openQueue();
if ((await queue.whereIs(reference)) !== undefined) {
  console.error(`${reference} is in the queue already.`);
  process.exit(1);
}
const client = await connect();
try {
  const result = await drive(
    client,
    {
      method: 'tools/call',
      params: { name: 'reimburse', arguments: { reference, amount: Number(amount), purpose } },
    },
    {
      server,
      store: queue.store(reference),
      handlers: {
        form: () => {
          throw new Error('This is for a manager.');
        },
      },
    },
  );
  console.log('Done, and nobody was asked:', result.content);
} catch (error) {
  if (!(error instanceof Unanswered)) throw error;
  console.log(`${reference}: a question for a manager. I save it, and leave.`);
} finally {
  await client.close();
}
