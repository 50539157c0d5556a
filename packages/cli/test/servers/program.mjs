// A server as a program, written by hand so that it starts at once and may misbehave. The first argument says how.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [how = 'well', file = ''] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ resultType: 'complete', content: [{ type: 'text', text: value }] });
const list = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

process.stderr.write('Up. \u001b[31mRed.\u202e\n');
if (how === 'ends') {
  process.stderr.write('There is no database.\n');
  process.exit(3);
}
// A process of its own that outlives the program, and holds its pipes.
if (how === 'holds')
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'inherit' }).unref();
// It neither leaves when stdin ends nor when it is asked to.
if (how === 'stays') {
  setInterval(() => undefined, 1000);
  process.on('SIGTERM', () => undefined);
}
// It stays when stdin ends, and never answers.
if (how === 'mute') setInterval(() => undefined, 1000);
if (how === 'garbage') setInterval(() => process.stdout.write('Listening on port 3000!\n\u001b[2J{"a":'), 20);
if (file !== '') writeFileSync(file, String(process.pid));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (how === 'garbage' || how === 'mute') return;
  const result = (value) => send({ id, result: value });
  switch (method) {
    case 'server/discover':
      return result({ ...list, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    case 'tools/list':
      return result({ ...list, tools: [{ name: 't', inputSchema: { type: 'object' } }] });
    case 'tools/call': {
      if (how === 'hangs') return undefined;
      const { inputResponses } = params;
      if (inputResponses === undefined) {
        const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
        const question = { mode: 'form', message: 'Name?', requestedSchema: schema };
        return result({
          resultType: 'input_required',
          inputRequests: { q: { method: 'elicitation/create', params: question } },
          requestState: 'state-of-the-program',
        });
      }
      if (how === 'dies') {
        process.stderr.write('Out of memory.\n');
        process.exit(1);
      }
      const { action, content } = inputResponses.q;
      if (action !== 'accept') return result(text(`No name: ${action}.`));
      return result(text(`Hello ${content.text}, ${process.env.GREETING ?? 'nothing more'}.`));
    }
  }
});
