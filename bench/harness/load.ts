import autocannon from 'autocannon';
import { quantile } from './stats.js';

/** One request of a script. */
export interface Exchange {
  /** Its body; where it holds a state, made from the state that the exchange before it gave. */
  readonly body: string | ((state: string) => string);
  /** What the response must be: one with a state to go on from, or the end of the flow. */
  readonly gives: 'state' | 'end';
}

/** What to send, and where to. */
export interface Load {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Each connection sends these one after the other, again and again. */
  readonly script: readonly Exchange[];
  readonly connections: number;
  /** Rounded up, so that each connection plays whole scripts. */
  readonly requests: number;
}

/** What a load found. Times in µs. */
export interface LoadResult {
  readonly requests: number;
  /** Of the whole load, from the first connection to the last response. */
  readonly micros: number;
  /** From the first byte of a request to the last byte of its response, as its client sees it. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Keeps a server on loopback busy: each connection sends its next request as soon as it has the response.
 *
 * @throws Error when any response is not what the script says.
 */
export async function runLoad({ port, headers, script, connections, requests }: Load): Promise<LoadResult> {
  const unit = connections * script.length;
  const amount = Math.ceil(requests / unit) * unit;
  const latencies: number[] = [];
  const faults: string[] = [];
  const started = performance.now();
  let ended = started;
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(
      {
        url: `http://127.0.0.1:${port}/mcp`,
        connections,
        amount,
        headers,
        requests: script.map((exchange) => asRequest(exchange, faults)),
        bailout: 1,
        sampleInt: 10, // ms; it looks so often whether all is done
      },
      (error: Error | null, { errors, timeouts }) => {
        if (error === null && errors + timeouts === 0) resolve();
        else reject(error ?? new Error(`${errors} connections failed, ${timeouts} requests timed out.`));
      },
    );
    // Its own summary has whole milliseconds, which is coarser than most responses take.
    instance.on('response', (_client, _status, _bytes, ms) => {
      latencies.push(ms * 1_000);
      ended = performance.now();
    });
  });
  if (faults.length > 0) {
    throw new Error(`${faults.length} of ${amount} responses were not what they must be: ${faults[0]}`);
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  const micros = (ended - started) * 1_000;
  return { requests: amount, micros, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

/** What a connection knows while it plays its script. */
interface Context {
  state?: string;
}

function asRequest({ body, gives }: Exchange, faults: string[]): autocannon.Request {
  const request: autocannon.Request = {
    method: 'POST',
    path: '/mcp',
    onResponse(status: number, text: string, context: Context) {
      const state = gives === 'state' ? stateOf(text) : undefined;
      if (state !== undefined) context.state = state;
      const right = gives === 'state' ? state !== undefined : text.includes('"content"');
      if (status !== 200 || !right) faults.push(`HTTP ${status} ${text.slice(0, 500)}`);
    },
  };
  if (typeof body === 'string') return { ...request, body };
  return {
    ...request,
    setupRequest: (made, context: Context) => ({ ...made, body: body(context.state ?? '') }),
  };
}

function stateOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Reply | null)?.result?.requestState;
  } catch {
    return undefined; // no JSON: told as a response that is not what it must be
  }
}

interface Reply {
  readonly result?: { readonly requestState?: string };
}
