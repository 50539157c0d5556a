import { McpServer, type RegisteredTool, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Parley } from '../../src/index.js';
import { generateKey } from '../../src/seal/index.js';

/** A schema of one member, that counts how often it is converted. */
function counted(member: string): { readonly schema: StandardSchemaWithJSON; readonly count: () => number } {
  const standard = z.object({ [member]: z.string() })['~standard'];
  let count = 0;
  const convert = (io: 'input' | 'output'): StandardSchemaWithJSON['~standard']['jsonSchema']['input'] => {
    return (options) => {
      count += 1;
      return standard.jsonSchema[io](options);
    };
  };
  const schema: StandardSchemaWithJSON = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => standard.validate(value),
      jsonSchema: { input: convert('input'), output: convert('output') },
    },
  };
  return { schema, count: () => count };
}

const parley = new Parley({ keys: generateKey() });

function register(schemas: {
  readonly inputSchema?: StandardSchemaWithJSON;
  readonly outputSchema?: StandardSchemaWithJSON;
}): {
  /** The SDK's own HTTP entry asks it for `toolInputSchemaJson`. */ readonly asked: McpServer;
  readonly registered: RegisteredTool;
} {
  const mcp = new McpServer({ name: 'test', version: '1.0.0' });
  const registered = parley.attach(mcp).registerTool('deploy', schemas, () => ({ content: [] }));
  return { asked: mcp, registered };
}

function membersOf(json: unknown): string[] {
  return Object.keys((json as { readonly properties: object }).properties);
}

describe('the JSON of a schema, over the instances that a factory makes', () => {
  it('is not made for an instance that nobody asks, when it is the only one', () => {
    const { schema, count } = counted('a');
    register({ inputSchema: schema });
    expect(count()).toBe(0);
  });

  it('is made for the first two, and lent to all others', () => {
    const { schema, count } = counted('a');
    for (let instance = 0; instance < 6; instance += 1) {
      expect(membersOf(register({ inputSchema: schema }).asked.toolInputSchemaJson('deploy'))).toEqual(['a']);
    }
    expect(count()).toBe(2);
  });

  it('is lent for results too', () => {
    const { schema, count } = counted('a');
    for (let instance = 0; instance < 6; instance += 1) {
      expect(membersOf(register({ outputSchema: schema }).registered.outputSchemaJson)).toEqual(['a']);
    }
    expect(count()).toBe(2);
  });

  it('follows a tool whose schema is changed, and no other instance does', () => {
    const { schema } = counted('a');
    for (let instance = 0; instance < 3; instance += 1) {
      const { asked, registered } = register({ inputSchema: schema, outputSchema: schema });
      registered.update({ paramsSchema: counted('b').schema, outputSchema: counted('c').schema });
      expect(membersOf(asked.toolInputSchemaJson('deploy'))).toEqual(['b']);
      expect(membersOf(registered.outputSchemaJson)).toEqual(['c']);
    }
    expect(membersOf(register({ inputSchema: schema }).asked.toolInputSchemaJson('deploy'))).toEqual(['a']);
  });

  it('is left to the SDK where it cannot be made', () => {
    const schema = z.object({ when: z.date() });
    for (let instance = 0; instance < 4; instance += 1) {
      expect(register({ inputSchema: schema }).asked.toolInputSchemaJson('deploy')).toBeUndefined();
    }
  });
});
