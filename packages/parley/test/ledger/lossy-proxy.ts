import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of a message with which a transaction is committed. */
export type CommitFault =
  /** It never reaches the database. */
  | 'lost'
  /** It is done, and its reply never comes back. */
  | 'unanswered'
  /** It reaches the database only after a while, and its reply never comes back. */
  | 'late'
  /** It is done, its reply never comes back, and from then on the database cannot be reached. */
  | 'last';

export interface LossyProxy {
  readonly url: string;
  /** What becomes of the next COMMIT. */
  fault: CommitFault | undefined;
  /** Refuses connections while true. */
  closed: boolean;
  /** Cuts all connections that there are. */
  cut(): void;
  close(): Promise<void>;
}

const LATE = 300;

/** Stands between a client and Postgres, and loses what it is told to lose. */
export async function lossyProxy(to: string): Promise<LossyProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (proxy.closed) {
      client.destroy();
      return;
    }
    const database = connect(Number(target.port === '' ? 5432 : target.port), target.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => database.end());
    database.on('close', () => client.destroy());
    database.on('data', (data) => client.write(data));
    client.on('data', (data) => {
      // A simple query is one message: `Q`, a length, the text. The driver writes it at once.
      if (proxy.fault === undefined || !data.includes('COMMIT\0')) {
        database.write(data);
        return;
      }
      const { fault } = proxy;
      proxy.fault = undefined;
      database.removeAllListeners('data');
      client.removeAllListeners('close');
      if (fault === 'lost') database.destroy();
      if (fault === 'unanswered' || fault === 'last') {
        database.once('data', () => {
          if (fault === 'last') proxy.closed = true;
          if (fault === 'last') proxy.cut();
          client.destroy();
          database.destroy();
        });
        database.write(data);
      }
      if (fault === 'late') {
        client.destroy();
        setTimeout(() => database.end(data), LATE);
      }
    });
  });
  const proxy: LossyProxy = {
    url: '',
    fault: undefined,
    closed: false,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      proxy.cut();
      await new Promise((done) => server.close(done));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(to);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(proxy, { url: url.href });
}
