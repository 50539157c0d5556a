import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { PNG, text, WAV } from './content.js';

/** Plain tools, one for each kind of content that a result can hold (scenarios `tools-*`). */
export function registerTools(mcp: McpServer): void {
  // First in the list: the suite's header scenario calls the first tool and needs it to succeed.
  mcp.registerTool('test_simple_text', { description: 'Gives a text.' }, () =>
    text('This is a simple text response for testing.'),
  );

  mcp.registerTool('test_image_content', { description: 'Gives an image.' }, () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  }));

  mcp.registerTool('test_audio_content', { description: 'Gives a sound.' }, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));

  mcp.registerTool('test_embedded_resource', { description: 'Gives a resource.' }, () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }));

  mcp.registerTool('test_multiple_content_types', { description: 'Gives several kinds of content.' }, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  }));

  mcp.registerTool('test_error_handling', { description: 'Always fails.' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });

  mcp.registerTool(
    'test_tool_with_progress',
    { description: 'Reports its progress.' },
    async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await delay(50);
        // Progress belongs to a token of the client's; without one nobody asked for it.
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: 100 };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
      return text('Done.');
    },
  );
}
