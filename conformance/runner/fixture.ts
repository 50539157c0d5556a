import type { Children } from './children.js';

const LISTENING = /^listening (\S+)\n/m;

/** The HTTP entries that the fixture server can stand behind: the SDK's `createMcpHandler`, and the pooled one. */
export type Entry = 'sdk' | 'pooled';

/**
 * Starts the fixture server behind an entry.
 *
 * @returns its URL, once it can be called.
 * @throws Error with what it wrote when it ends before that.
 */
export async function startFixture(children: Children, entry: Entry): Promise<string> {
  const server = children.start(process.execPath, ['--import', 'tsx', 'conformance/server/main.ts', entry]);
  const listening = new Promise<string>((resolve) => {
    server.process.stdout?.on('data', () => {
      const url = LISTENING.exec(server.output())?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const died = server.ended.then((code): never => {
    throw new Error(`The fixture server ended with code ${code} before it listened:\n${server.output()}`);
  });
  return Promise.race([listening, died]);
}
