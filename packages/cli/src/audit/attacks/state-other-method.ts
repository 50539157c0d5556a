import type { Attack, AuditContext, Changes } from '../attack.js';
import { takenElsewhere } from '../state/elsewhere.js';
import { inEachRound } from '../state/trials.js';

/** A tool's state for a prompt (STATE-07). */
export const stateOtherMethod: Attack = {
  id: 'state-other-method',
  title: "A tool's state for a prompt",
  rule: 'MRTR, Server Requirements 5 (STATE-07)',
  severity: 'high',
  sends:
    "The tool's state and answers in `prompts/get`, for the prompt of the same name and the first one listed, and compares with a request that has no state.",
  safe: 'It answers with an error, or as if no state had come.',
  fix: "Put the method into what the state's tag covers, not the name alone.",
  run: (context) => {
    const prompts = promptsToTry(context);
    return prompts.length === 0
      ? Promise.resolve([{ verdict: 'not-applicable', found: 'The target lists no prompts.' }])
      : inEachRound(context, (pause) =>
          takenElsewhere(
            context,
            pause,
            prompts.map((name): readonly [string, Changes] => [
              `in prompts/get for ${name}`,
              { method: 'prompts/get', name },
            ]),
          ),
        );
  },
};

/** The one that a name alone would confuse with the tool, and the one that the user named, which stands first. */
function promptsToTry({ prompts, tool }: AuditContext): readonly string[] {
  const same = prompts.filter((name) => name === tool.name);
  return [...new Set([...same, ...prompts.slice(0, 1)])];
}
