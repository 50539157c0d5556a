import type { UrlWarning } from 'mcp-parley/client';
import { CANCEL, DECLINE } from '../drawing/hints.js';
import type { Item } from '../drawing/list.js';

/** What a person does about a page to be opened. */
export interface UrlChoice {
  readonly action: 'open' | 'show' | 'done' | 'decline' | 'cancel';
}

/** What was done with the page so far. */
export type UrlStage = 'asked' | 'shown' | 'opened';

const LABELS: Readonly<Record<UrlStage, Readonly<Partial<Record<UrlChoice['action'], string>>>>> = {
  asked: {
    open: 'Open it in the browser',
    show: 'Show the address only, I open it myself',
    decline: DECLINE,
    cancel: CANCEL,
  },
  shown: { done: 'I am done there, go on', open: 'Open it in the browser', cancel: CANCEL },
  opened: { done: 'I am done there, go on', open: 'Open it again', cancel: CANCEL },
};

/** What there is to choose. */
export function urlItems(stage: UrlStage): readonly Item<UrlChoice>[] {
  return Object.entries(LABELS[stage]).map(([action, label]) => ({
    value: { action: action as UrlChoice['action'] },
    label,
    isServers: false,
  }));
}

/** What each warning means to a person. */
export const WARNINGS: Readonly<Record<UrlWarning, string>> = {
  malformed: 'It is not a proper address.',
  scheme: 'It is not the address of a web page.',
  'not-https': 'The connection is not encrypted (http).',
  'user-info': 'What stands before the @ is not where it leads, even if it looks like a name you know.',
  punycode:
    'The name is written in letters other than a to z. It may look like one you know, and be another.',
  'mixed-scripts': 'The name mixes letters of several alphabets, as names do that imitate others.',
  'private-address': 'It leads to this machine, or into a private network.',
  'ip-address': 'It leads to a number instead of a name, so that nobody can tell whose it is.',
  port: 'It uses another port than the usual one.',
};
