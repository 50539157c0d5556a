/**
 * Asks what stands in the environment, and prints the answers: a program for the tests of the terminal. It runs in a
 * pseudo-terminal.
 */
import type { AskContext, Question } from 'mcp-parley/client';
import { Interrupted, progress, terminalHandlers } from '../../src/terminal/index.js';

/** What the answers hold must not be taken for what the questions drew. */
function ascii(json: string): string {
  return json.replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const questions = JSON.parse(process.env['QUESTIONS'] ?? '[]') as readonly Question[];
const opened: string[] = [];
const controller = new AbortController();
const context: AskContext = {
  server: { url: 'https://releases.example.com/mcp' },
  request: { method: 'tools/call', params: { name: 'deploy' } },
  round: 1,
  signal: controller.signal,
};
process.on('SIGUSR2', () => controller.abort(new Error('The call is over.')));

const busy = progress(process.stdout, 'Waiting for releases');
const handlers = terminalHandlers(
  {
    input: process.stdin,
    output: process.stdout,
    openUrl: async (url) => {
      if (process.env['NO_BROWSER'] !== undefined) throw new Error('no browser');
      opened.push(url);
    },
  },
  {
    serverName: process.env['SERVER_NAME'] ?? 'releases',
    onAsk: () => busy.pause(),
    onBusy: () => busy.resume(),
  },
);

try {
  for (const [index, question] of questions.entries()) {
    busy.round(index + 1);
    const answer =
      question.kind === 'form'
        ? await handlers.form(question, context)
        : question.kind === 'url' && (await handlers.url(question, context));
    busy.pause();
    console.log(`answer: ${ascii(JSON.stringify(answer))}`);
    busy.resume();
  }
  busy.done();
  console.log(`opened: ${JSON.stringify(opened)}; raw: ${process.stdin.isRaw}; the end`);
} catch (error) {
  busy.done();
  console.log(
    error instanceof Interrupted ? 'interrupted' : `failed: ${String(error)}`,
    `raw: ${process.stdin.isRaw}`,
  );
  process.exitCode = 1;
}
