/**
 * The client for scenario `sep-2322-client-request-state`: the driver of mcp-parley/client. The suite starts it with
 * the URL of its own server as last argument; ending with 0 says that the calls went well, what was sent is judged
 * over there.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { drive, InvalidResponse, type DriveOptions } from 'mcp-parley/client';

const url = process.argv.at(-1) ?? '';
const client = new Client(
  { name: 'parley-conformance-client', version: '1.0.0' },
  { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
);

const options: DriveOptions = {
  server: { url },
  handlers: {
    form: async () => {
      // Between two rounds of another call: neither its answers nor its state may show up in this one.
      await call('test_mrtr_unrelated');
      return { action: 'accept', content: { confirmed: true } };
    },
  },
};

async function call(name: string): Promise<void> {
  await drive(client, { method: 'tools/call', params: { name, arguments: {} } }, options);
}

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await call('test_mrtr_echo_state');
await call('test_mrtr_no_state');
// Its result lacks `resultType`. It must not be taken for a question; the official client goes further and
// refuses it, as the revision obliges servers to send that member.
await call('test_mrtr_no_result_type').catch((error: unknown) => {
  if (!(error instanceof InvalidResponse)) throw error;
});
await client.close();
