import type { Refusal } from 'mcp-parley/client';
import { PASTE_OFF, PASTE_ON } from '../keyboard/keys.js';
import { listen, type AskSettings } from '../keyboard/listen.js';
import type { Terminal } from '../terminal.js';
import type { Page } from './page.js';
import { Screen } from './screen.js';

/**
 * Shows a question until it is answered. Whatever happens, it leaves the screen.
 *
 * @throws what {@link listen} throws.
 */
export async function ask<A>(terminal: Terminal, page: Page<A>, settings: AskSettings): Promise<A | Refusal> {
  const screen = new Screen(terminal.output);
  const show = (): void => screen.draw(page.draw(screen.size));
  terminal.output.write(PASTE_ON);
  try {
    return await listen(terminal, { press: (key) => page.press(key), show }, settings);
  } finally {
    screen.clear();
    terminal.output.write(PASTE_OFF);
  }
}
