import { StringDecoder } from 'node:string_decoder';

/** Takes events of a `text/event-stream` apart, as their bytes come. */
export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #data: string[] = [];

  /** @returns the data of the events that are complete with these bytes. */
  push(bytes: Uint8Array): string[] {
    // A line may end in CR LF, LF or CR; a CR at the end may be half of one, and waits.
    const text = this.#line + this.#decoder.write(Buffer.from(bytes));
    const lines = text.split(/\r\n|\n|\r(?!$)/);
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
