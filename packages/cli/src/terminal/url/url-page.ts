import type { UrlQuestion } from 'mcp-parley/client';
import { fit, fixed, GAP, RANKS } from '../drawing/fit.js';
import { hints, LEAVING } from '../drawing/hints.js';
import { List } from '../drawing/list.js';
import type { Page } from '../drawing/page.js';
import { barred, heading, INDENT, marked, own, ServerText, type Passage } from '../drawing/paragraphs.js';
import type { Frame, Line, Size } from '../drawing/screen.js';
import { wrapHard } from '../drawing/text-layout.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { urlItems, WARNINGS, type UrlChoice, type UrlStage } from './url-choices.js';

/** What a {@link UrlPage} needs beside the question. */
export interface UrlPageOptions {
  readonly serverName: string;
  readonly theme: Theme;
  readonly stage: UrlStage;
  /** What was done so far, in words. */
  readonly done: string;
}

/** A URL, shown whole, with its host apart and what is to be known of it (URL-11, URL-13). */
export class UrlPage implements Page<UrlChoice> {
  readonly #question: UrlQuestion;
  readonly #options: UrlPageOptions;
  readonly #text: ServerText;
  readonly #list: List<UrlChoice>;

  constructor(question: UrlQuestion, options: UrlPageOptions) {
    const { theme, stage } = options;
    const { message, url, warnings } = question;
    this.#question = question;
    this.#options = options;
    const passages: Passage[] = [{ text: message, breaks: 'words' }];
    if (stage === 'asked') passages.push({ text: '', breaks: 'words' }, { text: url, breaks: 'anywhere' });
    this.#text = new ServerText(passages, theme);
    // Where something is to be known first, Enter alone must not open it.
    const first = stage === 'asked' && warnings.length > 0 ? 'decline' : undefined;
    this.#list = new List(urlItems(stage), theme, { pointTo: ({ value }) => value.action === first });
  }

  press(key: Key): UrlChoice | undefined {
    if (this.#text.press(key)) return undefined;
    if (key.type === 'key' && key.name === 'enter') return this.#list.pointed?.value;
    this.#list.press(key);
    return undefined;
  }

  draw(size: Size): Frame {
    const { columns } = size;
    const { serverName, theme, stage, done } = this.#options;
    const { marks, warning, good } = theme;
    const { more, arrows } = marks;
    const warnings =
      stage === 'asked'
        ? this.#question.warnings.flatMap((name) => marked(marks.warning, WARNINGS[name], columns, warning))
        : [];
    return fit(
      [
        fixed(heading(marks.open, `${serverName} asks you to open a page`, columns, theme), {
          rank: RANKS.header,
          more,
        }),
        this.#text.block(columns),
        GAP,
        fixed(this.#host(columns), { rank: RANKS.title, least: 2, more }),
        fixed(warnings, { rank: RANKS.warning, least: 3, more }),
        fixed(done === '' ? [] : own(done, columns, good), { rank: RANKS.fault, more }),
        GAP,
        ...this.#list.blocks(columns),
        GAP,
        hints(['Enter choose', ...LEAVING, `${arrows} move`], columns, theme),
      ],
      size,
    );
  }

  /** Where it leads, apart and in full. */
  #host(columns: number): readonly Line[] {
    const { theme } = this.#options;
    return [
      ...own('It leads to', columns),
      ...barred(wrapHard(this.#question.host, columns - INDENT), theme, theme.bold),
    ];
  }
}
