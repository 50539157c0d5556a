import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { HEADERS, wholeFlow, type Send } from '../fixtures/deploy-client.js';
import type { ServerName } from '../fixtures/deploy-servers.js';
import type { Row } from '../harness/row.js';

const SERVER = fileURLToPath(new URL('../fixtures/loopback-server.ts', import.meta.url));
const CONNECTIONS = 16;

async function start(name: ServerName): Promise<{ readonly child: ChildProcess; readonly send: Send }> {
  const child = fork(SERVER, [name], { stdio: ['ignore', 2, 2, 'ipc'] });
  const [port] = (await once(child, 'message')) as [number];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  return { child, send: (body) => post(agent, port, body) };
}

function post(agent: Agent, port: number, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, 'Content-Length': Buffer.byteLength(body) };
    const sent = request(
      { agent, host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(text));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

export default {
  title: 'Whole requests over node:http on loopback, keep-alive: the same tool',
  leavesOut: 'a network; each server has a process of its own, and the client, in a third, keeps it busy',
  async measure(bench) {
    const parley = await start('parley');
    const byHand = await start('byHand');
    const peer = 'by hand, SDK codec with bind';
    const scenario = `whole flow of two rounds, ${CONNECTIONS} connections`;
    const found = await bench.compare(
      scenario,
      { parley: () => wholeFlow(parley.send), [peer]: () => wholeFlow(byHand.send) },
      { concurrency: CONNECTIONS, warmUp: 2 },
    );
    bench.judge(scenario, 'throughput beside the tool by hand', found.ratio(peer), { atLeast: 1, unit: 'x' });
    parley.child.disconnect();
    byHand.child.disconnect();
  },
} satisfies Row;
