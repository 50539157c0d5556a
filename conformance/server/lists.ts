import type { McpServer, ServerEventBus } from '@modelcontextprotocol/server';
import { text } from './content.js';

/**
 * Lists of tools and prompts that really change. Servers live for one request, so what changed is kept here,
 * and open `subscriptions/listen` streams hear of it over the bus.
 */
export class Lists {
  readonly #bus: ServerEventBus;
  #extraTool = false;
  #extraPrompt = false;

  constructor(bus: ServerEventBus) {
    this.#bus = bus;
  }

  /** Adds a tool to the list, or takes it away again. */
  changeTools(): void {
    this.#extraTool = !this.#extraTool;
    this.#bus.publish({ kind: 'tools_list_changed' });
  }

  /** Adds a prompt to the list, or takes it away again. */
  changePrompts(): void {
    this.#extraPrompt = !this.#extraPrompt;
    this.#bus.publish({ kind: 'prompts_list_changed' });
  }

  /** Registers what is in the lists at present, beyond the fixtures. */
  registerExtras(mcp: McpServer): void {
    if (this.#extraTool) {
      mcp.registerTool('test_extra_tool', { description: 'Comes and goes.' }, () => text('Here for now.'));
    }
    if (this.#extraPrompt) {
      mcp.registerPrompt('test_extra_prompt', { description: 'Comes and goes.' }, () => ({
        messages: [{ role: 'user', content: { type: 'text', text: 'Here for now.' } }],
      }));
    }
  }
}
