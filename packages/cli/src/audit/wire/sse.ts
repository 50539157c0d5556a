import { StringDecoder } from 'node:string_decoder';

/** Takes events of a `text/event-stream` apart, as their bytes come. */
export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  /** A CR at the end of what has come: the first half of a line's end, or all of it. */
  #held = '';
  #data: string[] = [];

  /** @returns the data of the events that are complete with these bytes. */
  push(bytes: Uint8Array): string[] {
    const text = this.#held + this.#decoder.write(Buffer.from(bytes));
    this.#held = text.endsWith('\r') ? '\r' : '';
    // Only what is new is looked through: a line may come byte by byte.
    const lines = text.slice(0, text.length - this.#held.length).split(/\r\n|\n|\r/);
    lines[0] = this.#line + (lines[0] ?? '');
    this.#line = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): string[] {
    if (line === '') {
      const data = this.#data;
      this.#data = [];
      return data.length === 0 ? [] : [data.join('\n')];
    }
    const match = /^\uFEFF?data(?:: ?(.*))?$/s.exec(line);
    if (match !== null) this.#data.push(match[1] ?? '');
    return [];
  }
}
