import type { Tool } from '@modelcontextprotocol/client';
import { describeParameter, parametersOf } from '../arguments/parameter.js';
import { quoted } from '../quoted.js';
import { harmlessLine } from '../safe-text.js';

/** A tool in a few lines: its name and title, the first line of its description, and its parameters. */
export function toolText(tool: Tool, bold: (text: string) => string): string {
  const title = tool.title ?? tool.annotations?.title;
  const description = tool.description?.trim().split('\n', 1)[0] ?? '';
  const lines = [
    `${bold(harmlessLine(tool.name))}${title === undefined ? '' : `  ${harmlessLine(title)}`}`,
    ...(description === '' ? [] : [`  ${quoted(description)}`]),
    ...parametersOf(tool.inputSchema).map((parameter) => `    ${describeParameter(parameter)}`),
  ];
  return `${lines.join('\n')}\n`;
}
