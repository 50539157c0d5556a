import type { UrlQuestion } from 'mcp-parley/client';
import { harmless } from '../../safe-text.js';
import { barred, heading, INDENT, marked, own } from '../drawing/paragraphs.js';
import { Screen } from '../drawing/screen.js';
import { wrap } from '../drawing/text-layout.js';
import type { Key } from '../keyboard/keys.js';
import type { Listener } from '../keyboard/listen.js';
import { urlItems, WARNINGS, type UrlChoice } from '../url/url-choices.js';
import type { UrlPageOptions } from '../url/url-page.js';
import { choose, numbered } from './choose.js';
import { TypedLine } from './typed-line.js';

/** A URL, one line after another. */
export class PlainUrl implements Listener<UrlChoice> {
  readonly #question: UrlQuestion;
  readonly #options: UrlPageOptions;
  readonly #screen: Screen;
  readonly #line: TypedLine;
  #isShown = false;

  constructor(question: UrlQuestion, options: UrlPageOptions, output: NodeJS.WriteStream) {
    this.#question = question;
    this.#options = options;
    this.#screen = new Screen(output);
    this.#line = new TypedLine((text) => output.write(text));
  }

  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    const { columns } = this.#screen.size;
    const { serverName, theme, stage, done } = this.#options;
    const { message, url, host, warnings } = this.#question;
    const { marks } = theme;
    if (stage === 'asked') {
      this.#screen.print([
        ...heading(marks.open, `${serverName} asks you to open a page`, columns, theme),
        ...barred([...wrap(harmless(message).trim(), columns - INDENT), '', url], theme),
        ...own('It leads to', columns),
        ...barred([host], theme, theme.bold),
        ...warnings.flatMap((name) => marked(marks.warning, WARNINGS[name], columns, theme.warning)),
        ...own('Ctrl-D declines, Ctrl-C cancels.', columns),
      ]);
    } else {
      this.#screen.print(own(done, columns));
    }
    this.#screen.print([{ text: '' }, ...numbered(urlItems(stage), columns, theme)]);
    this.#prompt();
  }

  press(key: Key): UrlChoice | undefined {
    const typed = this.#line.press(key);
    if (typed === undefined) return undefined;
    const chosen = choose(urlItems(this.#options.stage), typed);
    if (chosen.type === 'item') return chosen.value;
    this.#screen.print(own(chosen.reason, this.#screen.size.columns));
    this.#prompt();
    return undefined;
  }

  #prompt(): void {
    this.#line.begin(`  Number ${this.#options.theme.marks.pointer} `);
  }
}
