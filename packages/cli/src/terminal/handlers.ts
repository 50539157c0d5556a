import type { Answers, AskContext, FormQuestion, Handlers, Refusal, UrlQuestion } from 'mcp-parley/client';
import { ask } from './drawing/ask.js';
import { Screen } from './drawing/screen.js';
import { FormPage } from './form/form-page.js';
import { rowsOf } from './form/review-page.js';
import { listen, type AskSettings, type Listener } from './keyboard/listen.js';
import { PlainForm } from './plain/plain-form.js';
import { PlainUrl } from './plain/plain-url.js';
import { record } from './record.js';
import type { Terminal } from './terminal.js';
import { isPlain, themeOf, type Theme } from './theme.js';
import type { UrlChoice, UrlStage } from './url/url-choices.js';
import { UrlPage } from './url/url-page.js';

/** What {@link terminalHandlers} needs to know. */
export interface AskOptions {
  /** Which server asks, as the person configured it. What the server calls itself is never shown (FORM-23). */
  readonly serverName: string;
  /** Called before a question takes the screen: whatever else draws there must stop. */
  readonly onAsk?: () => void;
  /** Called when the question has left the screen, and the program is busy again. */
  readonly onBusy?: () => void;
}

/**
 * Asks the person at the terminal. The first Ctrl-C is the answer `cancel`.
 *
 * @throws Interrupted, from the handlers, on a Ctrl-C at the question that follows a cancelled one.
 */
export function terminalHandlers(
  terminal: Terminal,
  options: AskOptions,
): { readonly [K in 'form' | 'url']: NonNullable<Handlers[K]> } {
  const asker = new Asker(terminal, options);
  return {
    form: (question, context) => asker.take(context, (settings) => asker.form(question, settings)),
    url: (question, context) => asker.take(context, (settings) => asker.url(question, settings)),
  };
}

/** What was done with a page, and that in words. */
interface UrlState {
  readonly stage: UrlStage;
  readonly done: string;
}

const OUTCOMES = { accept: 'Sent.', decline: 'Declined.', cancel: 'Cancelled.' } as const;

class Asker {
  readonly #terminal: Terminal;
  readonly #options: AskOptions;
  readonly #theme: Theme;
  /** Whether the last question was cancelled. */
  #isCancelled = false;

  constructor(terminal: Terminal, options: AskOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#theme = themeOf(terminal.output);
  }

  /** Takes the screen for a question. */
  async take<A extends Answers['form' | 'url']>(
    { signal }: AskContext,
    answer: (settings: AskSettings) => Promise<A>,
  ): Promise<A> {
    this.#options.onAsk?.();
    try {
      const answered = await answer({ signal, isLast: this.#isCancelled });
      this.#isCancelled = answered.action === 'cancel';
      return answered;
    } finally {
      this.#options.onBusy?.();
    }
  }

  async form(question: FormQuestion, settings: AskSettings): Promise<Answers['form']> {
    const { serverName } = this.#options;
    const { output } = this.#terminal;
    const theme = this.#theme;
    if (isPlain()) {
      const form = new PlainForm(question, { serverName, theme, output });
      return this.#said(await this.#listen(form, settings));
    }
    const page = new FormPage(question, { serverName, theme });
    const answer = await ask(this.#terminal, page, settings);
    this.#record(
      question.message,
      answer.action === 'accept' ? rowsOf(page.filled, theme) : [],
      answer.action,
    );
    return answer;
  }

  async url(question: UrlQuestion, settings: AskSettings): Promise<Answers['url']> {
    let state: UrlState = { stage: 'asked', done: '' };
    for (;;) {
      const { action } = await this.#choose(question, state, settings);
      switch (action) {
        case 'open':
          state = await this.#open(question.url);
          break;
        case 'show':
          state = this.#show(question.url, 'Open this address yourself:');
          break;
        case 'done':
          return this.#answered(question, { action: 'accept' });
        case 'decline':
        case 'cancel':
          return this.#answered(question, { action });
      }
    }
  }

  async #choose(question: UrlQuestion, state: UrlState, settings: AskSettings): Promise<UrlChoice> {
    const options = { ...state, serverName: this.#options.serverName, theme: this.#theme };
    return isPlain()
      ? this.#listen(new PlainUrl(question, options, this.#terminal.output), settings)
      : ask(this.#terminal, new UrlPage(question, options), settings);
  }

  /** Asks line by line. A question that is taken away leaves its line behind. */
  async #listen<A>(listener: Listener<A>, settings: AskSettings): Promise<A | Refusal> {
    try {
      return await listen(this.#terminal, listener, settings);
    } catch (error) {
      this.#terminal.output.write('\n');
      throw error;
    }
  }

  /** Opens the page, now that the person said so. Gives what came of it, in words. */
  async #open(url: string): Promise<UrlState> {
    try {
      await this.#terminal.openUrl(url);
      return { stage: 'opened', done: 'Opened in the browser.' };
    } catch {
      return this.#show(url, 'No browser could be started. Open this address yourself:');
    }
  }

  /** Leaves the URL on the terminal, in one piece, to be copied. */
  #show(url: string, why: string): UrlState {
    const { dim } = this.#theme;
    new Screen(this.#terminal.output).print([{ text: why, styled: dim(why) }, { text: url }, { text: '' }]);
    return { stage: 'shown', done: 'The address stands above.' };
  }

  #answered(question: UrlQuestion, answer: Answers['url']): Answers['url'] {
    if (isPlain()) return this.#said(answer);
    this.#record(question.message, [question.host], answer.action);
    return answer;
  }

  #said<A extends { readonly action: keyof typeof OUTCOMES }>(answer: A): A {
    new Screen(this.#terminal.output).print([{ text: '' }, { text: OUTCOMES[answer.action] }]);
    return answer;
  }

  #record(message: string, rows: readonly string[], action: keyof typeof OUTCOMES): void {
    const screen = new Screen(this.#terminal.output);
    const { columns } = screen.size;
    const asked = { serverName: this.#options.serverName, message };
    screen.print(record(asked, { rows, outcome: OUTCOMES[action], columns, theme: this.#theme }));
  }
}
