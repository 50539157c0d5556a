import type { Attack } from '../attack.js';
import { judgeTaken, notApplicable, tryWays } from '../judge/conclude.js';
import { violationsOf } from '../judge/violations.js';

/** MRTR-S-17. */
export const argumentsUnchecked: Attack = {
  id: 'arguments-unchecked',
  title: 'Arguments that are checked in the first round only',
  rule: 'Tools, Security Considerations 1: validate all tool inputs, in every round (MRTR-S-17)',
  severity: 'medium',
  sends: 'Honest answers with arguments that break the tool’s input schema.',
  safe: 'Answers an error, or a result that says so (isError).',
  fix: 'Validate the arguments of every retry as those of a first call, and bind the state to a digest of them.',
  run(context) {
    const ways = violationsOf(context.tool.inputSchema, context.tool.arguments).filter(
      ({ isMild }) => !isMild,
    );
    if (ways.length === 0)
      return Promise.resolve([notApplicable('The tool lists no input schema that arguments could break.')]);
    return tryWays(
      context,
      () => ways.map(({ name, value }) => ({ name, changes: () => ({ arguments: value }) })),
      judgeTaken('medium'),
      'Arguments against the schema are refused on retries too.',
    );
  },
};
