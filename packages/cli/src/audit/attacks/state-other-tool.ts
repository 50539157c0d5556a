import type { Attack, AuditContext, Changes } from '../attack.js';
import { takenElsewhere } from '../state/elsewhere.js';
import { inEachRound } from '../state/trials.js';
import { isObject } from '../wire/response.js';

/** Every tool that is tried is called for real. */
const MOST_TOOLS = 3;

/** A state for another tool (STATE-07). */
export const stateOtherTool: Attack = {
  id: 'state-other-tool',
  title: 'A state for another tool',
  rule: 'MRTR, Server Requirements 5 (STATE-07)',
  severity: 'high',
  sends:
    'The state and answers to another tool whose schema has the same parameters, and compares with a request that has no state.',
  safe: 'It answers with an error, or as if no state had come.',
  fix: "Put method and tool name into what the state's tag covers, and refuse a state whose name is not the request's.",
  run: (context) => {
    const tools = similarTools(context);
    return tools.length === 0
      ? Promise.resolve([
          { verdict: 'not-applicable', found: 'The target lists no other tool with the same parameters.' },
        ])
      : inEachRound(context, (pause) =>
          takenElsewhere(
            context,
            pause,
            tools.map((name): readonly [string, Changes] => [`to the tool ${name}`, { name }]),
          ),
        );
  },
};

/** Only tools that look like the audited one: what others do when they are called, nobody said. */
function similarTools({ tool, otherTools }: AuditContext): readonly string[] {
  const wanted = parametersOf(tool.inputSchema);
  return otherTools
    .filter(({ name, inputSchema }) => name !== tool.name && parametersOf(inputSchema) === wanted)
    .map(({ name }) => name)
    .slice(0, MOST_TOOLS);
}

function parametersOf(schema: unknown): string {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return JSON.stringify(isObject(properties) ? Object.keys(properties).toSorted() : []);
}
