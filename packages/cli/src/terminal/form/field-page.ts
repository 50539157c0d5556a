import type { Block } from '../drawing/fit.js';
import type { Key } from '../keyboard/keys.js';
import type { Entry } from './entry.js';

/** What a field was settled with. */
export type Settled = Exclude<Entry, { readonly type: 'fault' }>;

/** The prompt of one field. */
export interface FieldPage {
  /** Keys that do something here, beside those of every question. */
  readonly hints: readonly string[];
  /** What it holds at this moment, before Enter; `undefined` where nothing can be said yet. */
  readonly held: Entry | undefined;
  /** Takes a key; gives what the field was settled with when that was Enter, and the entry fits. */
  press(key: Key): Settled | undefined;
  blocks(columns: number): readonly Block[];
}
