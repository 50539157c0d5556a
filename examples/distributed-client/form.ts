/** Asks a form on standard input and output, a line for each field. */
import { createInterface } from 'node:readline';
import { checkAnswer, type Answers, type FormField, type FormQuestion } from 'mcp-parley/client';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Asks until the answer fits. @throws Error when nobody is there any more. */
export async function fillIn(question: FormQuestion): Promise<Answers['form']> {
  for (;;) {
    const content: [string, unknown][] = [];
    for (const [name, field] of Object.entries(question.schema.properties)) {
      const isRequired = question.schema.required?.includes(name) === true;
      console.log(`${plain(name)} (${hint(field)}${isRequired ? '' : ', may stay empty'}):`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('Nobody answers.');
      if (value !== '' || isRequired) content.push([name, read(field, value)]);
    }
    const answer = { action: 'accept', content: Object.fromEntries(content) } as const;
    const check = checkAnswer(question, answer);
    if (check.type === 'fits') return answer;
    if (check.type === 'faulty') console.log(`That does not do: ${plain(check.reason)}`);
  }
}

function hint(field: FormField): string {
  return field.type === 'boolean' ? 'yes or no' : field.type;
}

/** What a line means for a field. What means nothing stays a text, and is found not to fit. */
function read({ type }: FormField, line: string): unknown {
  if (type === 'boolean')
    return (
      new Map([
        ['yes', true],
        ['no', false],
      ]).get(line) ?? line
    );
  if (type === 'number' || type === 'integer') return Number(line);
  return type === 'array' ? line.split(' ') : line;
}

/** All that a server says is text, and must do nothing to the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, '\u{fffd}');
}
