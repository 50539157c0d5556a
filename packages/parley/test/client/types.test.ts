import type {
  CallToolResult,
  Client,
  GetPromptResult,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import { describe, expectTypeOf, it } from 'vitest';
import {
  drive,
  loadFlow,
  resume,
  Stepper,
  type Answers,
  type DriveOptions,
  type DrivenMethod,
  type DrivenResult,
  type FormQuestion,
  type Handlers,
  type SavedFlow,
  type Step,
  type UrlQuestion,
} from '../../src/client/index.js';

declare const client: Client;
declare const options: DriveOptions;
declare const method: DrivenMethod;

/** Inferred by the compiler, and never run. */
const types = {
  tool: () => drive(client, { method: 'tools/call', params: { name: 't', arguments: { a: 1 } } }, options),
  prompt: () =>
    drive(client, { method: 'prompts/get', params: { name: 'p', arguments: { a: 'x' } } }, options),
  resource: () => drive(client, { method: 'resources/read', params: { uri: 'test://r' } }, options),
  begin: () =>
    new Stepper(client, options as never).begin({ method: 'resources/read', params: { uri: 'test://r' } }),
  resumed: (flow: SavedFlow) => resume(client, flow, options),
  resumedTool: (saved: unknown) => resume(client, loadFlow(saved, 'tools/call'), options),
  resumedPrompt: (saved: unknown) => resume(client, loadFlow(saved, 'prompts/get'), options),
  any: (saved: unknown) => resume(client, loadFlow(saved, method), options),
};

describe('the result of a driven call', () => {
  it('has the type that belongs to its method', () => {
    expectTypeOf(types.tool).returns.resolves.toEqualTypeOf<CallToolResult>();
    expectTypeOf(types.prompt).returns.resolves.toEqualTypeOf<GetPromptResult>();
    expectTypeOf(types.resource).returns.resolves.toEqualTypeOf<ReadResourceResult>();
    expectTypeOf(types.begin).returns.resolves.toEqualTypeOf<Step<'resources/read'>>();
  });

  it('of a resumed call, as well, where the method is known', () => {
    expectTypeOf(types.resumedTool).returns.resolves.toEqualTypeOf<CallToolResult>();
    expectTypeOf(types.resumedPrompt).returns.resolves.toEqualTypeOf<GetPromptResult>();
    expectTypeOf(types.resumed).returns.resolves.toEqualTypeOf<DrivenResult>();
    expectTypeOf(types.any).returns.resolves.toEqualTypeOf<DrivenResult>();
  });
});

describe('a request', () => {
  it('belongs to its method', () => {
    type Request = Parameters<typeof drive>[1];
    expectTypeOf<{ method: 'resources/read'; params: { uri: string } }>().toExtend<Request>();
    expectTypeOf<{ method: 'resources/read'; params: { name: string } }>().not.toExtend<Request>();
    expectTypeOf<{ method: 'tools/list'; params: object }>().not.toExtend<Request>();
  });
});

describe('a handler', () => {
  it('gets the question of its kind, and gives an answer of its kind', () => {
    type Of<K extends keyof Handlers> = NonNullable<Handlers[K]>;
    expectTypeOf<Parameters<Of<'form'>>[0]>().toEqualTypeOf<FormQuestion>();
    expectTypeOf<Parameters<Of<'url'>>[0]>().toEqualTypeOf<UrlQuestion>();
    expectTypeOf<Awaited<ReturnType<Of<'roots'>>>>().toEqualTypeOf<Answers['roots']>();
    expectTypeOf<() => { action: 'accept' }>().toExtend<Of<'url'>>();
    expectTypeOf<() => Promise<{ action: 'cancel' }>>().toExtend<Of<'form'>>();
    // An accepted form has content, and consent has none that anybody reads.
    expectTypeOf<() => { action: 'accept' }>().not.toExtend<Of<'form'>>();
    expectTypeOf<() => { action: 'yes' }>().not.toExtend<Of<'url'>>();
  });
});
