import type { Answers, FieldValue, FormQuestion } from 'mcp-parley/client';
import { harmless } from '../../safe-text.js';
import { barred, heading, INDENT, marked, own } from '../drawing/paragraphs.js';
import { Screen, type Line } from '../drawing/screen.js';
import { wrap } from '../drawing/text-layout.js';
import type { AskedField } from '../form/entry.js';
import { answerOf, fieldsOf, introOf, type Filled } from '../form/fields.js';
import { rowsOf } from '../form/review-page.js';
import type { Key } from '../keyboard/keys.js';
import type { Listener } from '../keyboard/listen.js';
import type { Theme } from '../theme.js';
import { numbered } from './choose.js';
import { promptOf, readTyped } from './plain-field.js';
import { TypedLine } from './typed-line.js';

type FormAnswer = Answers['form'];

const KEYS = 'Esc goes back, Ctrl-D declines, Ctrl-C cancels.';

/** A form, one line after another: for terminals that cannot go back, and for people who have them read. */
export class PlainForm implements Listener<FormAnswer> {
  readonly #question: FormQuestion;
  readonly #serverName: string;
  readonly #theme: Theme;
  readonly #screen: Screen;
  readonly #line: TypedLine;
  readonly #fields: readonly AskedField[];
  readonly #values = new Map<AskedField, FieldValue>();
  /** The field that is asked; behind the last one is the review. */
  #at = -1;
  #isComplete = false;

  constructor(
    question: FormQuestion,
    options: { readonly serverName: string; readonly theme: Theme; readonly output: NodeJS.WriteStream },
  ) {
    const { serverName, theme, output } = options;
    this.#question = question;
    this.#serverName = serverName;
    this.#theme = theme;
    this.#screen = new Screen(output);
    this.#line = new TypedLine((text) => output.write(text));
    this.#fields = fieldsOf(question);
    for (const asked of this.#fields) if (asked.preset !== undefined) this.#values.set(asked, asked.preset);
  }

  show(): void {
    if (this.#at >= 0) return;
    const { columns } = this.#screen.size;
    const { marks } = this.#theme;
    this.#say(
      heading(marks.open, `${this.#serverName} asks`, columns, this.#theme),
      barred(wrap(harmless(this.#question.message).trim(), columns - INDENT), this.#theme),
      own(KEYS, columns),
    );
    this.#goTo(0);
  }

  press(key: Key): FormAnswer | undefined {
    if (key.type === 'key' && key.name === 'escape') {
      this.#say([{ text: '' }], this.#at > 0 ? [] : this.#own('There is nothing before this.'));
      this.#goTo(Math.max(0, this.#at - 1));
      return undefined;
    }
    const typed = this.#line.press(key);
    if (typed === undefined) return undefined;
    const asked = this.#fields[this.#at];
    if (asked === undefined) return this.#judge(typed.trim().toLowerCase());
    const entry = readTyped(asked, typed);
    if (entry.type === 'fault') {
      const { marks, fault } = this.#theme;
      this.#say(marked(marks.fault, entry.reason, this.#screen.size.columns, fault));
      this.#prompt(asked, typed);
      return undefined;
    }
    if (entry.type === 'value') this.#values.set(asked, entry.value);
    else this.#values.delete(asked);
    this.#goTo(this.#isComplete ? this.#fields.length : this.#at + 1);
    return undefined;
  }

  #goTo(at: number): void {
    this.#at = at;
    const asked = this.#fields[at];
    if (asked === undefined) {
      this.#review();
      return;
    }
    const { columns } = this.#screen.size;
    const { step, title, description, warning } = introOf(this.#fields, at, columns, this.#theme);
    const { items, note } = promptOf(asked);
    this.#say(
      [{ text: '' }],
      step,
      title,
      description,
      warning,
      numbered(items, columns, this.#theme),
      this.#own(note),
    );
    const value = this.#values.get(asked);
    this.#prompt(asked, value === undefined ? '' : promptOf(asked).typedOf(value));
  }

  #prompt(asked: AskedField, typed: string): void {
    this.#line.begin(`  ${promptOf(asked).prompt} ${this.#theme.marks.pointer} `, typed);
  }

  get filled(): readonly Filled[] {
    return this.#fields.map((asked) => ({ asked, value: this.#values.get(asked) }));
  }

  #review(): void {
    this.#isComplete = true;
    const rows = rowsOf(this.filled, this.#theme).map((row, index) => `${index + 1}. ${row}`);
    this.#say([{ text: '' }], this.#own('Your answers:'), barred(rows, this.#theme));
    this.#askVerdict();
  }

  #askVerdict(): void {
    this.#line.begin(`  send, decline, cancel, or a number to change ${this.#theme.marks.pointer} `);
  }

  #judge(verdict: string): FormAnswer | undefined {
    if (verdict === 'send') return answerOf(this.filled);
    if (verdict === 'decline' || verdict === 'cancel') return { action: verdict };
    const index = /^\d{1,3}$/.test(verdict) ? Number(verdict) - 1 : -1;
    if (this.#fields[index] !== undefined) {
      this.#goTo(index);
      return undefined;
    }
    this.#say(this.#own(`Type one of these words, or a number from 1 to ${this.#fields.length}.`));
    this.#askVerdict();
    return undefined;
  }

  #own(text: string): readonly Line[] {
    return own(text, this.#screen.size.columns);
  }

  #say(...parts: readonly (readonly Line[])[]): void {
    this.#screen.print(parts.flat());
  }
}
