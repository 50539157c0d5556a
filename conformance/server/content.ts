import type { CallToolResult } from '@modelcontextprotocol/server';

/** One blue pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mOQz38NAAIqAXpGbxguAAAAAElFTkSuQmCC';

/** Four samples of silence: 8 kHz, 8 bit, mono. */
export const WAV = 'UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA';

/** A tool's result that is one text. */
export function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}
