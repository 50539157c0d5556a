/** A program that is all script, on stdin and stdout: what a request's tool is called says what it does. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

console.error('It is up.');
let served = 0;
const write = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, params } = JSON.parse(line);
  served += 1;
  const answer = () => write({ id, result: { name: params.name, served, pid: process.pid } });
  switch (params.name) {
    case 'die':
      console.error('Out of ideas.');
      process.exit(3);
      break;
    case 'late':
      setTimeout(answer, 100);
      break;
    case 'silent':
      break;
    case 'chatty':
      process.stdout.write('Listening on stdin.\n\n');
      write({ method: 'notifications/message', params: {} });
      write({ id: 'mine', method: 'roots/list' });
      answer();
      break;
    case 'endless':
      process.stdout.write('x'.repeat(9 * 1024 * 1024));
      break;
    case 'parent': {
      const sleeper = ['-e', 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000)'];
      const child = spawn(process.execPath, sleeper, { stdio: 'ignore' });
      child.unref();
      write({ id, result: { child: child.pid } });
      break;
    }
    case 'flood':
      for (let nth = 0; nth < 20_000; nth += 1) {
        process.stdout.write('no message\n');
        process.stderr.write('\u001b[31mno message, and no end of line');
      }
      answer();
      break;
    case 'stubborn':
      process.on('SIGTERM', () => undefined);
      setInterval(() => undefined, 1000);
      answer();
      break;
    default:
      answer();
  }
}
