// Ends services and removes their folders when the process that started them is gone, however it went. Its standard
// input is a pipe from that process: the system closes it, also after SIGKILL.
// Lines: `end <pid> <signal>`, `forget <pid>`, `remove <folder>`, `keep <folder>`.
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE = 3_000;
const processes = new Map();
const folders = new Set();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const [word, subject, signal] = line.split('\t');
  if (word === 'end') processes.set(Number(subject), signal);
  if (word === 'forget') processes.delete(Number(subject));
  if (word === 'remove') folders.add(subject);
  if (word === 'keep') folders.delete(subject);
}

for (const [pid, signal] of processes) send(pid, signal);
const until = performance.now() + PATIENCE;
while ([...processes.keys()].some(isAlive) && performance.now() < until) await sleep(50);
for (const pid of processes.keys()) send(pid, 'SIGKILL');
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

function isAlive(pid) {
  if (!send(pid, 0)) return false;
  try {
    // In a container nobody may reap what has ended: it stays, as a zombie, and does nothing more.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
