import type { Answers, FormQuestion } from 'mcp-parley/client';
import { fit, fixed, GAP, RANKS, type Block } from '../drawing/fit.js';
import { hints, LEAVING } from '../drawing/hints.js';
import type { Page } from '../drawing/page.js';
import { heading, marked, own, ServerText } from '../drawing/paragraphs.js';
import type { Frame, Size } from '../drawing/screen.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { ChoicePage } from './choice-page.js';
import { ChoicesPage } from './choices-page.js';
import { choicesOf } from './describe-field.js';
import type { AskedField } from './entry.js';
import type { FieldPage, Settled } from './field-page.js';
import { answerOf, fieldsOf, introOf, type Filled } from './fields.js';
import { ReviewPage, type Verdict } from './review-page.js';
import { TextPage } from './text-page.js';

type FormAnswer = Answers['form'];

/** One field of the form while it is filled in. */
interface Step {
  readonly asked: AskedField;
  readonly page: FieldPage;
  settled?: Settled;
}

/** A form: a page for each field, then everything once more before it is sent. */
export class FormPage implements Page<FormAnswer> {
  readonly #serverName: string;
  readonly #theme: Theme;
  readonly #message: ServerText;
  readonly #steps: readonly Step[];
  /** The field that is asked; all of them are settled where it is the review. */
  #at = 0;
  #review: ReviewPage | undefined;
  #note = '';

  constructor(
    question: FormQuestion,
    { serverName, theme }: { readonly serverName: string; readonly theme: Theme },
  ) {
    this.#serverName = serverName;
    this.#theme = theme;
    this.#message = new ServerText([{ text: question.message, breaks: 'words' }], theme);
    this.#steps = fieldsOf(question).map((asked) => ({ asked, page: pageOf(asked, theme) }));
    if (this.#steps.length === 0) this.#toReview();
  }

  press(key: Key): FormAnswer | undefined {
    this.#note = '';
    if (this.#message.press(key)) return undefined;
    if (key.type === 'key' && key.name === 'escape') {
      this.#back();
      return undefined;
    }
    if (this.#review !== undefined) return this.#judge(this.#review.press(key));
    const step = this.#steps[this.#at];
    const settled = step?.page.press(key);
    if (step === undefined || settled === undefined) return undefined;
    step.settled = settled;
    if (this.#steps.every((other) => other.settled !== undefined)) this.#toReview();
    else this.#at += 1;
    return undefined;
  }

  draw(size: Size): Frame {
    const { columns } = size;
    const { marks, warning } = this.#theme;
    const header = heading(marks.open, `${this.#serverName} asks`, columns, this.#theme);
    const note = this.#note === '' ? [] : marked(marks.warning, this.#note, columns, warning);
    const step = this.#steps[this.#at];
    return fit(
      [
        fixed(header, { rank: RANKS.header, more: marks.more }),
        this.#message.block(columns),
        GAP,
        ...(this.#review === undefined && step !== undefined
          ? this.#field(step, columns)
          : this.#reviewed(columns)),
        fixed(note, { rank: RANKS.fault, more: marks.more }),
        GAP,
        hints(this.#hints(step), columns, this.#theme),
      ],
      size,
    );
  }

  #field({ page }: Step, columns: number): readonly Block[] {
    const { more } = this.#theme.marks;
    const fields = this.#steps.map(({ asked }) => asked);
    const { step, title, description, warning } = introOf(fields, this.#at, columns, this.#theme);
    return [
      fixed(step, { rank: RANKS.step, more }),
      fixed(title, { rank: RANKS.title, more }),
      fixed(description, { rank: RANKS.description, more }),
      fixed(warning, { rank: RANKS.warning, more }),
      ...page.blocks(columns),
    ];
  }

  #reviewed(columns: number): readonly Block[] {
    const { marks, dim } = this.#theme;
    const text =
      this.#steps.length === 0
        ? 'There is nothing to fill in.'
        : 'Your answers. Enter on one of them changes it.';
    return [
      fixed(own(text, columns, dim), { rank: RANKS.step, more: marks.more }),
      ...(this.#review?.blocks(columns) ?? []),
    ];
  }

  #hints(step: Step | undefined): readonly string[] {
    const back = this.#at > 0 || (this.#review !== undefined && this.#steps.length > 0) ? ['Esc back'] : [];
    if (this.#review !== undefined)
      return ['Enter choose', ...back, ...LEAVING, `${this.#theme.marks.arrows} move`];
    return ['Enter next', ...back, ...LEAVING, ...(step?.page.hints ?? [])];
  }

  /** One field back. What was typed stays; where it does not fit, the field has to be settled again. */
  #back(): void {
    if (this.#review !== undefined && this.#steps.length > 0) {
      this.#review = undefined;
      this.#at = this.#steps.length - 1;
      return;
    }
    const step = this.#steps[this.#at];
    if (this.#at === 0 || step === undefined) {
      this.#note = 'There is nothing before this.';
      return;
    }
    const { held } = step.page;
    if (step.settled !== undefined && held !== undefined) {
      if (held.type === 'fault') delete step.settled;
      else step.settled = held;
    }
    this.#at -= 1;
  }

  #toReview(): void {
    this.#review = new ReviewPage(this.filled, this.#serverName, this.#theme);
    this.#at = this.#steps.length;
  }

  /** What was filled in so far. */
  get filled(): readonly Filled[] {
    return this.#steps.map(({ asked, settled }) => ({
      asked,
      value: settled?.type === 'value' ? settled.value : undefined,
    }));
  }

  #judge(verdict: Verdict | undefined): FormAnswer | undefined {
    switch (verdict?.type) {
      case 'send':
        return answerOf(this.filled);
      case 'change':
        this.#review = undefined;
        this.#at = verdict.index;
        return undefined;
      case 'decline':
      case 'cancel':
        return { action: verdict.type };
      case undefined:
        return undefined;
    }
  }
}

function pageOf(asked: AskedField, theme: Theme): FieldPage {
  const { field } = asked;
  if (field.type === 'array') return new ChoicesPage(asked, theme);
  const isChoice = field.type === 'boolean' || (field.type === 'string' && choicesOf(field) !== undefined);
  return isChoice ? new ChoicePage(asked, theme) : new TextPage(asked, theme);
}
