import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned, type Pinning } from './pin.js';

/** A server in a process of its own. */
export interface Subject {
  readonly port: number;
  /** µs of processor time that the process has used so far, in all its threads. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts a program that tells its port when it listens, answers any message with its `process.cpuUsage()`, and ends
 * when it is disconnected.
 *
 * @throws Error when it ends before it listens.
 */
export async function startSubject(
  file: string,
  args: readonly string[],
  pinning: Pinning | undefined,
): Promise<Subject> {
  const plain = [process.execPath, '--import', 'tsx', file, ...args];
  const [command = '', ...rest] = pinning === undefined ? plain : pinned(pinning.server, plain);
  const child = spawn(command, rest, { stdio: ['ignore', 2, 2, 'ipc'] });
  const exited = once(child, 'exit');
  const message = async (): Promise<unknown> => {
    const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
    if (first === undefined) throw new Error(`The server '${args.join(' ')}' has ended.`);
    return first[0];
  };
  const port = (await message()) as number;
  return {
    port,
    async cpu() {
      child.send('cpu');
      const { user, system } = (await message()) as NodeJS.CpuUsage;
      return user + system;
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
