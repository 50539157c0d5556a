/**
 * `answerer.ts`: lists the calls that wait. `answerer.ts <id>`: shows what one of them asks, and sends the answer; one
 * that was sent before, and whose outcome is unclear, is looked up first. Ends with one of the codes in `exits.ts`.
 */
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import {
  drive,
  loadFlow,
  RequestStateRefused,
  resume,
  RetryUnknown,
  SavedFlowOutdated,
  type Answers,
  type SavedFlow,
} from 'mcp-parley/client';
import { EXIT } from './exits.js';
import { fillIn, plain } from './form.js';
import { connect, openQueue, server } from './host.js';

const queue = await openQueue();
const client = await connect();
try {
  process.exitCode = await main(process.argv[2]);
} finally {
  await client.close();
  process.stdin.destroy();
}

async function main(id: string | undefined): Promise<number> {
  if (id === undefined) {
    for (const call of await queue.list()) {
      console.log(call.place === 'sent' ? `${call.id} was sent, and no answer came.` : `${call.id} waits.`);
    }
    return EXIT.done;
  }
  const flow = await queue.look(id);
  if (flow === undefined) return tooLate();
  return flow.sentAt === undefined ? answer(id, flow) : settle(id, flow);
}

/** Finds out what became of a call that was sent without an answer. Only what was not done is sent again. */
async function settle(id: string, flow: SavedFlow): Promise<number> {
  console.log(`${id} was sent before, and no answer came. I look it up before anything is sent again.`);
  if (!(await isPaid(client, id))) {
    console.log('It was not paid. So it is asked and sent again.');
    return answer(id, flow);
  }
  try {
    // From here on nobody else can go on with it.
    await queue.store(id).save({ ...flow, revision: flow.revision + 1 }, flow);
  } catch (error) {
    if (error instanceof SavedFlowOutdated) return tooLate();
    throw error;
  }
  await queue.end(id, { outcome: 'settled', text: 'It was paid.' });
  console.log('It was paid. I close it, and send nothing.');
  return EXIT.done;
}

/** Asks the person, and then sends the answer, if nobody else did meanwhile: a person may think for days. */
async function answer(id: string, flow: SavedFlow): Promise<number> {
  const answers = await ask(flow);
  try {
    const result = await resume(client, loadFlow(flow, 'tools/call'), {
      server,
      store: queue.store(id),
      resend: flow.sentAt !== undefined,
      handlers: {
        form: ({ key }, { round }) => {
          const answer = round === flow.round ? answers.get(key) : undefined;
          if (answer === undefined) throw new Error('It asks something more by now.');
          return answer;
        },
      },
    });
    const text = textOf(result);
    await queue.end(id, { outcome: 'answered', text });
    console.log(`Sent. The server says: ${plain(text)}`);
    return EXIT.done;
  } catch (error) {
    if (error instanceof SavedFlowOutdated) return tooLate();
    if (error instanceof RequestStateRefused) {
      await queue.end(id, { outcome: 'expired', text: 'The server takes it up no more. Ask again.' });
      console.log('The server takes this up no more. Nothing was done.');
      return EXIT.expired;
    }
    if (!(error instanceof RetryUnknown)) throw error;
    console.log(
      'It was sent, and no answer came. It may be done or not, so nobody sends it again by itself.',
    );
    return EXIT.unclear;
  }
}

type Asked = ReadonlyMap<string, Answers['form']>;

/** Shows who asks what for which call, and takes the answers. */
async function ask({ server, request, questions }: SavedFlow): Promise<Asked> {
  const address = 'url' in server ? server.url : server.command;
  const target = 'name' in request.params ? request.params.name : request.params.uri;
  console.log(`${plain(address)} asks, in ${plain(target)}, which ${server.principal ?? 'nobody'} called:`);
  const answers = new Map<string, Answers['form']>();
  for (const question of questions) {
    if (question.kind !== 'form') throw new Error('This answerer fills forms only.');
    console.log(`“${plain(question.message)}”`);
    answers.set(question.key, await fillIn(question));
  }
  return answers;
}

async function isPaid(client: Client, reference: string): Promise<boolean> {
  const request = { method: 'tools/call', params: { name: 'payment', arguments: { reference } } } as const;
  const result = await drive(client, request, { server, handlers: {} });
  return (result.structuredContent as { readonly paid?: unknown } | undefined)?.paid === true;
}

function tooLate(): number {
  console.log('Somebody else was quicker. I sent nothing.');
  return EXIT.taken;
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
