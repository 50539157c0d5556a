import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';

/** What the tool is called with. */
export interface Target {
  readonly service: string;
  readonly environment: string;
}

/** What it has to know before it deploys. */
export interface Plan extends Target {
  readonly region: string;
  readonly replicas: number;
  readonly strategy: string;
}

/** A form as a server asks it. */
export type Form = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>;

/** The first question of the demo's `deploy`, as it is on the wire. */
export const WHERE: Form = {
  message: 'Which region?',
  requestedSchema: {
    type: 'object',
    properties: { region: { type: 'string', enum: ['eu-west', 'us-east', 'ap-south'] } },
    required: ['region'],
  },
};

/** The second. */
export const HOW: Form = {
  message: 'How is it rolled out?',
  requestedSchema: {
    type: 'object',
    properties: {
      replicas: { type: 'integer', minimum: 1, maximum: 20, default: 3 },
      strategy: { type: 'string', enum: ['rolling', 'canary'], default: 'rolling' },
    },
  },
};

/** The third, which names what was answered before. */
export function go(plan: Plan): Form {
  return {
    message: `Deploy ${inWords(plan)}?`,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  };
}

/** How the tool ends. */
export function outcome(plan: Plan, isSure: boolean): { content: { type: 'text'; text: string }[] } {
  const text = isSure ? `Deployed ${inWords(plan)}: release 42.` : 'Not deployed.';
  return { content: [{ type: 'text', text }] };
}

function inWords({ service, environment, region, replicas, strategy }: Plan): string {
  return `${service}-1a2b3c4d to ${environment} in ${region}, ${replicas} replicas, ${strategy}`;
}
