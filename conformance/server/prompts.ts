import { completable, type McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { PNG } from './content.js';

const WORDS = ['test', 'testament', 'testimony', 'text'];

/** Plain prompts (scenarios `prompts-*`), one of them with an argument that can be completed (`completion-complete`). */
export function registerPrompts(mcp: McpServer): void {
  mcp.registerPrompt('test_simple_prompt', { description: 'A text without arguments.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } }],
  }));

  mcp.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A text with two arguments in it.',
      argsSchema: z.object({
        arg1: completable(z.string().describe('First test argument'), (value) =>
          WORDS.filter((word) => word.startsWith(value)),
        ),
        arg2: z.string().describe('Second test argument'),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` },
        },
      ],
    }),
  );

  mcp.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A resource, and what to do with it.',
      argsSchema: z.object({ resourceUri: z.string().describe('URI of the resource to embed') }),
    },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: {
              uri: resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          },
        },
        { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
      ],
    }),
  );

  mcp.registerPrompt('test_prompt_with_image', { description: 'An image, and what to do with it.' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }));
}
