import type { Prompt } from '@modelcontextprotocol/client';
import { WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import type { Assignment } from './assignment.js';

/**
 * The arguments of a prompt, which are texts.
 *
 * @throws WrongUse naming those that the prompt has.
 */
export function promptArguments(
  { name, arguments: declared = [] }: Pick<Prompt, 'name' | 'arguments'>,
  assignments: readonly Assignment[],
): Readonly<Record<string, string>> {
  const fault = (reason: string): never => {
    const lines = declared.map(
      (each) => `  ${harmlessLine(each.name)}${each.required === true ? ', required' : ''}`,
    );
    const listing =
      lines.length === 0
        ? `${harmlessLine(name)} takes no arguments.`
        : `${harmlessLine(name)} takes:\n${lines.join('\n')}`;
    throw new WrongUse(`${reason}\n${listing}`);
  };
  const entries = assignments.map((assignment): [string, string] => {
    const shown = harmlessLine(assignment.name);
    if (!declared.some((each) => each.name === assignment.name)) fault(`There is no argument '${shown}'.`);
    if (assignment.type === 'text') return [assignment.name, assignment.text];
    return fault(`'${shown}' is a text, as all arguments of prompts are: write ${shown}=value.`);
  });
  const given = new Set(entries.map(([each]) => each));
  const missing = declared.filter((each) => each.required === true && !given.has(each.name));
  if (missing.length > 0) fault(`Missing: ${missing.map((each) => harmlessLine(each.name)).join(', ')}.`);
  return Object.fromEntries(entries);
}
