/** A call of the nightly report, as the one who makes it sees it. */
import { drive, type Answers, type FormQuestion, type SavedTask } from 'mcp-parley/client';
import { bySelf, Cancelled, fillIn, type Answerer } from './answers.js';
import type { Report } from './report.js';
import type { TaskStage } from './tasks-stage.js';

export class NightlyCall {
  /** Resolves when the call has become a task. */
  readonly detached: Promise<void>;
  /** Keys of the questions, in the order in which they came. */
  readonly asked: string[] = [];
  /** What the task said of itself. */
  readonly messages: string[] = [];
  /** What was answered. */
  period = '';
  approved = false;

  readonly #report: Report;
  readonly #stage: TaskStage;
  readonly #answer: Answerer;
  #becameTask: () => void = () => undefined;
  #isTask = false;

  constructor(report: Report, stage: TaskStage, answer: Answerer) {
    this.#report = report;
    this.#stage = stage;
    this.#answer = answer;
    this.detached = new Promise((resolve) => (this.#becameTask = resolve));
  }

  /**
   * Drives the call to its end, and gives the text of its result.
   *
   * @throws Cancelled when the person has enough.
   */
  async run(): Promise<string> {
    const { client, url } = this.#stage;
    this.#report.section(1, 'It asks in a round');
    this.#report.say('alice calls nightly_report(). Before anything is done, it wants to know what of:');
    try {
      const request = { method: 'tools/call', params: { name: 'nightly_report' } } as const;
      const result = await drive(client, request, {
        server: { url, principal: 'alice' },
        handlers: { form: async (question) => await this.#ask(question) },
        onTask: (task) => this.#show(task),
      });
      return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    } catch (error) {
      // A driver passes on what a handler throws as the cause of its own error.
      throw error instanceof Error && error.cause instanceof Cancelled ? error.cause : error;
    }
  }

  async #ask({ key, message, schema }: FormQuestion): Promise<Answers['form']> {
    if (this.#isTask) {
      this.#report.section(3, 'It asks in its middle');
      this.#report.say('Until somebody answers, no worker knows of the task. It is an entry in its store:');
    }
    this.asked.push(key);
    const content = await fillIn(message, schema, this.#answer);
    if (this.#answer === bySelf)
      this.#report.row('asks', `${message} → ${Object.values(content).map(String).join()}`);
    if (key === 'period') this.period = String(content['period']);
    if (key === 'approve') this.approved = content['confirm'] === true;
    return { action: 'accept', content };
  }

  #show({ id, status, statusMessage = '', pollIntervalMs }: SavedTask): void {
    if (!this.#isTask) {
      this.#isTask = true;
      this.#report.section(2, 'It goes on as a task');
      this.#report.say('The answer to the round is a task. The client looks at it now and then, or leaves.');
      this.#report.row('task', `${id.slice(0, 8)}…, to be looked at every ${pollIntervalMs} ms`);
      this.#becameTask();
    }
    if (statusMessage === this.messages.at(-1)) return;
    this.messages.push(statusMessage);
    this.#report.row(status === 'input_required' ? 'waiting' : status, statusMessage);
  }
}
