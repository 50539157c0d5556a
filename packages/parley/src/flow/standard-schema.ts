/**
 * The two interfaces of the Standard Schema project that forms use, reduced to what is called here
 * (https://standardschema.dev, version 1 of `validate` and of `jsonSchema`). Zod 4.2 and later, ArkType and
 * others implement both. Kept structural, so that no schema library is a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** The value that a schema made of its input, or the faults that it found. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** One fault: what is wrong, and where. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether `value` implements Standard Schema, as opposed to being a JSON Schema object. */
export function isStandardSchema(value: object): value is StandardSchema {
  return '~standard' in value;
}
