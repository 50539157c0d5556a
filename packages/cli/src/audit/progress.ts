import { Screen } from '../terminal/drawing/screen.js';
import { cut } from '../terminal/drawing/text-layout.js';
import { isPlain } from '../terminal/theme.js';

/** Shows how far an audit has come. */
export interface AuditProgress {
  /** Says what is done now. */
  say(text: string): void;
  /** Leaves the screen. */
  done(): void;
}

/** A line that is drawn anew on a terminal; lines one after another where it cannot go back; else nothing. */
export function auditProgress(output: NodeJS.WriteStream | undefined): AuditProgress {
  if (output?.isTTY !== true) return { say: () => undefined, done: () => undefined };
  if (isPlain()) return { say: (text) => void output.write(`${text}\n`), done: () => undefined };
  const screen = new Screen(output);
  return {
    say: (text) =>
      screen.draw({
        lines: [{ text: cut(text, screen.size.columns - 1, '…') }],
        cursor: { row: 0, column: 0 },
      }),
    done: () => screen.clear(),
  };
}
