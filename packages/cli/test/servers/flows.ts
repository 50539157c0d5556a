import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import * as z from 'zod';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** How often each piece of work was done. */
export type Done = Map<string, number>;

/** Makes the server of the tests: tools that ask, tools that do not, a prompt and a resource. */
export function flowsServer(keys: string, done: Done = new Map()): () => McpServer {
  const parley = new Parley({ keys, logger: { warn: () => undefined } });
  return () => {
    const mcp = new McpServer({ name: 'releases', version: '1.0.0' });
    const flows = parley.attach(mcp);

    flows.registerTool(
      'deploy',
      {
        title: 'Deploy a service',
        description: 'Deploys it where you say.\nMore on a second line.',
        inputSchema: z.object({
          env: z.enum(['prod', 'staging']),
          count: z.int().optional(),
          tags: z.array(z.string()).optional(),
        }),
      },
      async ({ env, count = 1, tags = [] }, flow) => {
        const { region } = await flow.form('region', {
          message: 'Which region?',
          schema: z.object({ region: z.enum(['eu', 'us']), note: z.string().max(20).optional() }),
        });
        if (!(await flow.confirm('go', `Deploy to ${env} in ${region}?`))) return text('Not deployed.');
        await flow.step('release', () => void done.set('release', (done.get('release') ?? 0) + 1));
        return text(`Deployed ${count} to ${env} in ${region}${tags.map((tag) => ` #${tag}`).join('')}.`);
      },
    );

    flows.registerTool('sign-in', {}, async (flow) => {
      const { action } = await flow.elicitUrl('page', {
        message: 'Sign in, please.',
        url: 'https://login.example.com/start?id=1',
      });
      return text(`The page: ${action}.`);
    });

    flows.registerTool('two', {}, async (flow) => {
      const schema = z.object({ text: z.string() });
      const [one, two] = await Promise.all([
        flow.form('one', { message: 'One?', schema }),
        flow.form('two', { message: 'Two?', schema }),
      ]);
      return text(`${one.text} ${two.text}`);
    });

    mcp.registerTool('echo', { inputSchema: z.looseObject({ text: z.string().optional() }) }, (args) =>
      text(JSON.stringify(args)),
    );
    mcp.registerTool('fail', {}, () => ({ ...text('The disk is full.'), isError: true }));
    mcp.registerTool('break', {}, () => {
      throw new Error('unexpected');
    });
    mcp.registerTool('media', {}, () => ({
      content: [
        { type: 'text', text: 'A pixel, twice:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        { type: 'image', data: PIXEL, mimeType: 'image/../../x' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav; rate=1' },
        {
          type: 'resource',
          resource: { uri: 'file:///../etc/passwd', blob: 'aGk=', mimeType: 'application/pdf' },
        },
        { type: 'resource_link', uri: 'test://more', name: 'more' },
      ],
    }));
    mcp.registerTool('large', {}, () => text('x'.repeat(5_000_000)));
    mcp.registerTool('weather', { outputSchema: z.object({ degrees: z.number() }) }, () => ({
      content: [],
      structuredContent: { degrees: 21 },
    }));

    flows.registerPrompt(
      'review',
      { argsSchema: z.object({ version: z.string() }) },
      async ({ version }, flow) => {
        const { tone } = await flow.form('tone', {
          message: 'Which tone?',
          schema: z.object({ tone: z.string() }),
        });
        const message = { type: 'text', text: `Review ${version}, ${tone}.` } as const;
        return { messages: [{ role: 'user', content: message }] };
      },
    );
    flows.registerResource('notes', 'releases://notes', {}, async (uri, flow) => {
      const { full } = await flow.form('full', {
        message: 'All of them?',
        schema: z.object({ full: z.boolean() }),
      });
      return { contents: [{ uri: uri.href, text: full ? 'All notes.' : 'The last note.' }] };
    });
    return mcp;
  };
}

function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}
