import type { Refusal } from 'mcp-parley/client';
import { setImmediate as turn } from 'node:timers/promises';
import { Interrupted } from '../interrupted.js';
import type { Terminal } from '../terminal.js';
import { KeyReader, type Key } from './keys.js';

/** What takes keys until it has an answer. */
export interface Listener<A> {
  /** Takes a key; gives the answer when that was it. */
  press(key: Key): A | Refusal | undefined;
  /** Called at first, after keys, and when the window has another size. */
  show(): void;
}

/** What {@link listen} needs to know of the question. */
export interface AskSettings {
  /** Takes the question from the screen. */
  readonly signal: AbortSignal;
  /** Whether Ctrl-C ends the whole call, for it has been pressed before. */
  readonly isLast: boolean;
}

/**
 * Listens to the keyboard until there is an answer. Ctrl-D declines and Ctrl-C cancels wherever one is. Whatever
 * happens, the keyboard is left as it was found.
 *
 * @throws Interrupted on Ctrl-C where it is the second one, and when the terminal goes away; the signal's reason.
 */
export async function listen<A>(
  { input, output }: Terminal,
  listener: Listener<A>,
  { signal, isLast }: AskSettings,
): Promise<A | Refusal> {
  signal.throwIfAborted();
  const wasRaw = input.isRaw;
  input.setRawMode(true);
  try {
    await dropTyped(input);
    signal.throwIfAborted();
    return await answerFrom({ input, output }, listener, { signal, isLast });
  } finally {
    input.pause();
    input.setRawMode(wasRaw);
  }
}

function answerFrom<A>(
  { input, output }: Pick<Terminal, 'input' | 'output'>,
  listener: Listener<A>,
  { signal, isLast }: AskSettings,
): Promise<A | Refusal> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const finish = (settle: () => void): void => {
      isOver = true;
      reader.end();
      input.off('data', onData).off('end', onEnd).off('error', onEnd);
      output.off('resize', show);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const take = (key: Key): void => {
      const answer = leaving(key, isLast) ?? listener.press(key);
      if (answer instanceof Interrupted) finish(() => reject(answer));
      else if (answer !== undefined) finish(() => resolve(answer));
    };
    const show = (): void => {
      try {
        listener.show();
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const reader = new KeyReader((keys) => {
      for (const key of keys) {
        take(key);
        if (isOver) return; // what was typed behind an answer is not for this question
      }
      show();
    });
    const onData = (chunk: Buffer): void => reader.write(chunk);
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    const onEnd = (): void => finish(() => reject(new Interrupted()));
    input.on('data', onData).on('end', onEnd).on('error', onEnd);
    output.on('resize', show);
    signal.addEventListener('abort', onAbort, { once: true });
    show();
  });
}

function leaving(key: Key, isLast: boolean): Refusal | Interrupted | undefined {
  if (key.type !== 'key') return undefined;
  if (key.name === 'ctrl-c') return isLast ? new Interrupted() : { action: 'cancel' };
  return key.name === 'ctrl-d' ? { action: 'decline' } : undefined;
}

/** Drops what was typed before the question was there to be read: it answers nothing. */
async function dropTyped(input: NodeJS.ReadStream): Promise<void> {
  const drop = (): void => undefined;
  input.on('data', drop);
  input.resume();
  await turn();
  await turn();
  input.off('data', drop);
}
