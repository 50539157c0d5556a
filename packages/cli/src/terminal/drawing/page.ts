import type { Refusal } from 'mcp-parley/client';
import type { Key } from '../keyboard/keys.js';
import type { Frame, Size } from './screen.js';

/** A question while it is on the screen: how it looks, and what keys do to it. */
export interface Page<A> {
  /** Draws it so that it fits the window. */
  draw(size: Size): Frame;
  /** Takes a key; gives the answer when that was it. */
  press(key: Key): A | Refusal | undefined;
}
