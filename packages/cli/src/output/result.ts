import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import type { DrivenMethod, DrivenResult } from 'mcp-parley/client';
import { harmless, harmlessLine } from '../safe-text.js';
import { harmlessJson } from './json.js';
import type { MediaFolder } from './media.js';

/** How results are printed. */
export type OutputFormat = 'text' | 'json';

/**
 * A result as text for stdout, ending in a line break. Images, sounds and other bytes become files, whose paths stand
 * in their place, each on a line.
 */
export async function resultText(
  method: DrivenMethod,
  result: DrivenResult,
  media: MediaFolder,
): Promise<string> {
  const parts: string[] = [];
  switch (method) {
    case 'tools/call': {
      const { content, structuredContent } = result as CallToolResult;
      for (const block of content) parts.push(await blockText(block, media));
      // The same as JSON stands in the text already, where there is any (server/tools, "Structured Content").
      if (content.length === 0 && structuredContent !== undefined)
        parts.push(harmlessJson(structuredContent));
      break;
    }
    case 'prompts/get':
      for (const { role, content } of (result as GetPromptResult).messages) {
        parts.push(`${harmlessLine(role)}:\n${await blockText(content, media)}`);
      }
      break;
    case 'resources/read':
      for (const contents of (result as ReadResourceResult).contents) {
        parts.push(await contentsText(contents, media));
      }
  }
  const between = method === 'prompts/get' ? '\n' : '';
  return parts.map((part) => (part === '' || part.endsWith('\n') ? part : `${part}\n`)).join(between);
}

async function blockText(block: ContentBlock, media: MediaFolder): Promise<string> {
  switch (block.type) {
    case 'text':
      return harmless(block.text);
    case 'image':
    case 'audio':
      return media.write(block.type, block.data, block.mimeType);
    case 'resource':
      return contentsText(block.resource, media);
    case 'resource_link':
      return `${harmlessLine(block.uri)} (${harmlessLine(block.title ?? block.name)})`;
  }
}

type Contents = ReadResourceResult['contents'][number];

async function contentsText(contents: Contents, media: MediaFolder): Promise<string> {
  if ('text' in contents) return harmless(contents.text);
  return media.write('resource', contents.blob, contents.mimeType);
}
