/** A real nginx in front of the servers, in plain round-robin. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tellGuard } from '../test/services/guard.js';
import { findBinary } from '../test/services/index.js';

/** Longest wait for it to listen, in ms. */
const START_MS = 10_000;

/** A running nginx. */
export interface Nginx {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * One process, so that one pid ends it.
 *
 * `proxy_next_upstream off`: a request that meets a dead server comes back as 502, and it is the client who sends it
 * again, where it is counted. nginx would resend only what never reached a server, but then a retry would be hidden.
 * `max_fails=0`: a server that was down is back in turn at once; with four of them killed all the time, nginx would
 * else spend the run with most of them set aside.
 */
function configuration(folder: string, port: number, servers: readonly number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  client_max_body_size 1m;
  client_body_buffer_size 256k;
  proxy_buffers 8 64k;
  proxy_buffer_size 64k;
  upstream fleet {
    ${servers.map((server) => `server 127.0.0.1:${server} max_fails=0;`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    location / {
      proxy_pass http://fleet;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_next_upstream off;
      proxy_connect_timeout 1s;
      proxy_read_timeout 10s;
    }
  }
}
`;
}

/**
 * Starts it, with everything that it writes in a folder.
 *
 * @throws MissingBinary
 */
export async function startNginx(folder: string, port: number, servers: readonly number[]): Promise<Nginx> {
  const binary = findBinary('nginx');
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(folder, port, servers));
  const child = spawn(binary, ['-c', file, '-e', join(folder, 'nginx.log'), '-p', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (child.pid !== undefined) tellGuard('end', child.pid, 'SIGKILL');
  child.once('exit', () => tellGuard('forget', child.pid ?? 0));
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const until = Date.now() + START_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`nginx did not start. ${complaint}`);
    await sleep(20);
  }
  return {
    port,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false));
  });
}
