import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { URL_OF_SERVER } from '../harness.js';
import { cleanUp } from '../legacy-harness.js';

/** The stream in which a call is answered. */
export interface CallStream {
  readonly id: unknown;
  /** Sends one message in it. */
  write(message: object): void;
  /** Ends it, with a response or without one. */
  end(): void;
}

/** What the client sent to a server of 2025-11-25. */
export interface Posted {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: unknown;
}

interface Script {
  /** What happens to a call. A response of HTTP in place of a stream is what the client gets. */
  readonly call: (stream: CallStream, nth: number) => Response | void;
  /** What happens to an answer. Accepted if nothing is said. */
  readonly answer?: (stream: CallStream) => Response | void;
}

/** A client on a server of 2025-11-25 that is all script, over Streamable HTTP. */
export async function streaming({ call, answer }: Script): Promise<{ client: Client; posted: Posted[] }> {
  const posted: Posted[] = [];
  let calls = 0;
  let latest: CallStream | undefined;
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF_SERVER), {
    fetch: async (_url, init) => {
      if (typeof init?.body !== 'string') return new Response(null, { status: 405 });
      const message = JSON.parse(init.body) as Posted;
      posted.push(message);
      if (message.method === 'initialize') {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'old', version: '1' },
        };
        return Response.json({ jsonrpc: '2.0', id: message.id, result });
      }
      if (message.method === 'tools/call') {
        const { stream, body } = open(message.id);
        latest = stream;
        calls += 1;
        const refusal = call(stream, calls);
        return refusal ?? new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
      }
      const refusal = message.method === undefined && latest !== undefined ? answer?.(latest) : undefined;
      return refusal ?? new Response(null, { status: 202 });
    },
  });
  await client.connect(transport);
  cleanUp(() => client.close());
  return { client, posted };
}

function open(id: unknown): { stream: CallStream; body: ReadableStream<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const encoder = new TextEncoder();
  const stream = {
    id,
    write: (message: object) =>
      controller?.enqueue(
        encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`),
      ),
    end: () => controller?.close(),
  };
  return { stream, body };
}
